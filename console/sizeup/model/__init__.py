"""What is: frozen values, with no file, clock or screen behind them."""
