"""Colors of series: blue, violet and gray, which stay apart for every common kind of color vision.

Green, amber and red say how something stands and nothing else, so that no series has them. Every two colors of a set
differ in lightness or between blue and gray, which also those see who do not tell red from green; each has a contrast
of 3 or more to its background.
"""

from __future__ import annotations

DARK = ("#6cb2ff", "#a53cf5", "#eef1f4", "#727c84", "#3d67c1", "#b2b8c0")
"""On a dark background."""
LIGHT = ("#0b5cad", "#8300fb", "#1a2028", "#6c727a", "#650f6c", "#3212a0")
"""On a light background."""
