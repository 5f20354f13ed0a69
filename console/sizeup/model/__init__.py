"""What a machine, a plan and a sample are: frozen values that read no file, clock or screen."""
