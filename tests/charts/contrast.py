"""Colors as WCAG 2.2 compares them."""


def parts(color: str) -> tuple[float, float, float]:
    red, green, blue = bytes.fromhex(color[1:])
    return red / 255, green / 255, blue / 255


def linear(color: str) -> list[float]:
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts(color)]


def contrast(one: str, other: str) -> float:
    """Contrast as WCAG 2.2 defines it."""
    dark, light = sorted(
        0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (linear(one), linear(other))
    )
    return (light + 0.05) / (dark + 0.05)
