"""Files of ``/proc`` and ``/sys``: for each a parser of its text, ``parse_x``, and a live reader, ``read_x``."""
