"""What lies between the console and the terminal: driver, frame differ, splash, link speed, capabilities."""
