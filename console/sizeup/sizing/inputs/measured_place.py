"""Where a session measured its storage, which is taken as the place of the database while nobody says another."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Words
from sizeup.session.value import StepRun
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.measured_figures import MeasuredFigure, figures
from sizeup.sizing.storage_paths import find_target, mount_point, nfs_mount


def measured_place(runs: Sequence[StepRun], machine: Machine, *quantities: str) -> dict[str, Value]:
    """Return the one mount or device that these quantities were measured on, valid or not; nothing for several."""
    places: dict[str, str] = {}
    for one in figures(runs, *quantities):
        places.setdefault(_place(one, machine), one.run.step.id)
    if len(places) != 1:
        return {}
    (place, step), *_ = places.items()
    if find_target(machine, place) is None or nfs_mount(machine, place) is not None:
        return {}
    return {"path.measured": Words(place, Origin.MEASURED, step)}


def _place(figure: MeasuredFigure, machine: Machine) -> str:
    """Return the mount or device that a figure is of; empty where a step does not name one path."""
    declared = figure.run.declaration.target
    if declared is not None and declared.together and figure.target == declared.together:
        return ""
    extra = {} if figure.point.estimate is None else figure.point.estimate.extra
    return mount_point(machine, str(extra.get("mount_point", figure.target)))
