"""Machine, measurements, workload and rules to advice, every step shown.

``keys`` names what a user can set, ``rules`` loads the dated and sourced packs, ``sheet`` keeps the working of
one calculation, and each other module holds the calculations of one subject. ``advise`` runs them all.
"""
