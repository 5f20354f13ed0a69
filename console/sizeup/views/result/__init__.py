"""What sizing says of a machine: the verdict, the table of resources, licenses and candidates."""
