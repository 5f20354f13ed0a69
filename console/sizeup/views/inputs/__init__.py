"""The inputs of sizing and its answers: what they are called, what a change of them does."""
