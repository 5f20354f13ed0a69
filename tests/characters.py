"""What made-up texts consist of."""

from hypothesis import strategies as st

ANY_CHARACTER = st.characters(exclude_categories=["Cs"])
"""Whatever UTF-8 can hold, as ``st.text()`` takes by itself, which encodes a million characters to find it out."""
