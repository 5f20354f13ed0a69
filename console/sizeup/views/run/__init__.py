"""What a run measured: steps, points, samples and their charts."""
