"""What connections to an NFS server give, and what leaving the kernel's client gives."""
