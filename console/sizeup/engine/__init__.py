"""The run: discover, plan, measure, record; started alike by the console and by batch."""
