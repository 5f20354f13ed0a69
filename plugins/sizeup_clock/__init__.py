"""What reading the clock costs."""
