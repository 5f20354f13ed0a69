"""What a user sets is checked against the manifest before anything runs."""

import pytest

from sizeup.errors import MalformedError, UsageError
from sizeup.model.plan import SettingValue
from sizeup.probing.manifest import Manifest, Parameter, parse_value
from sizeup.probing.manifest_file import parse_manifest
from sizeup.probing.registry import RegisteredProbe, Registry
from sizeup.probing.settings import missing, parse_assignments, refuse_unused, resolve, used

PARAMETERS = (
    Parameter("count", "int", "how many", default=3, minimum=1, maximum=100),
    Parameter("size", "bytes", "how large", default=4096, minimum=512, maximum=1 << 30),
    Parameter("time", "seconds", "how long", default=1.5, minimum=0, maximum=60),
    Parameter("share", "float", "which share", default=0.5, minimum=0, maximum=1),
    Parameter("direct", "bool", "whether", default=True),
    Parameter("pattern", "choice", "which", default="random", choices=("random", "sequential")),
    Parameter("cpus", "cpulist", "where", default="0"),
    Parameter("target", "path", "the file to use"),
)
MANIFEST = Manifest("io.disk", "Disk", "Reads.", (), "a file", "", PARAMETERS, plans={"quick": {"count": 2, "time": 1}})
REGISTRY = Registry({"io.disk": RegisteredProbe(MANIFEST, "x:Y", "sizeup 0.1.0")})


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("io.disk.count=7", "count", 7),
        ("io.disk.size=64k", "size", 65536),
        ("io.disk.time=250ms", "time", 0.25),
        ("io.disk.share=0.25", "share", 0.25),
        ("io.disk.direct=off", "direct", False),
        ("io.disk.pattern=sequential", "pattern", "sequential"),
        ("io.disk.cpus=0-3,8", "cpus", "0-3,8"),
        ("io.disk.target=/srv/a=b,c", "target", "/srv/a=b,c"),
    ],
)
def test_each_type_reads_as_people_write_it(text: str, key: str, value: SettingValue) -> None:
    assert parse_assignments([text], REGISTRY) == {"io.disk": {key: value}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("io.disk.count=0", "--set io.disk.count: expected a whole number from 1 to 100, found '0'"),
        ("io.disk.count=many", "expected a whole number from 1 to 100, found 'many'"),
        ("io.disk.size=2T", "expected a size such as 64k or 1.5G from 512 B to 1 GiB, found '2T'"),
        ("io.disk.time=2m", "expected a time such as 10, 250ms or 5m from 0 s to 60 s, found '2m'"),
        ("io.disk.share=nan", "expected a number from 0 to 1, found 'nan'"),
        ("io.disk.direct=maybe", "expected yes or no, found 'maybe'"),
        ("io.disk.pattern=rnd", "expected one of random, sequential, found 'rnd'"),
        ("io.disk.cpus=0-", "expected a CPU list such as 0-3,8, found '0-'"),
        ("io.disk.target=", "expected a path, found ''"),
        ("io.disk.cuont=3", "probe io.disk has no parameter 'cuont' (did you mean count?); it has: count, size"),
        ("io.dsk.count=3", "unknown probe 'io.dsk' (did you mean io.disk?)"),
        ("count=3", "expected PROBE.KEY=VALUE, such as io.disk.count=3"),
        ("io.disk.count", "expected PROBE.KEY=VALUE"),
        ("io.disk.count=\x1b[2J", "found '\ufffd[2J'"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_assignments([text], REGISTRY)

    assert message in str(refused.value)


def test_the_user_wins_over_the_plan_and_the_plan_over_the_default() -> None:
    settings = resolve(MANIFEST, "quick", {"time": 9.0})

    assert (settings["count"], settings["time"], settings["size"]) == (2, 9.0, 4096)
    assert [parameter.name for parameter in missing(MANIFEST, settings)] == ["target"]


def test_a_number_may_be_any_where_no_range_is_given() -> None:
    assert parse_value(Parameter("n", "int", ""), "-5", "x") == -5


CONDITIONAL = Manifest(
    "io.disk",
    "Disk",
    "Reads.",
    (),
    "a file",
    "",
    (
        Parameter("preset", "choice", "which", default="scan", choices=("scan", "custom", "log")),
        Parameter("direct", "bool", "whether", default=True),
        Parameter("block", "bytes", "how large", default=8192, used_with={"preset": ("custom",)}),
        Parameter("depth", "int", "how many", used_with={"preset": ("custom", "scan"), "direct": (True,)}),
    ),
)


def test_what_has_no_effect_beside_the_others_is_not_recorded_and_not_asked_for() -> None:
    settings = resolve(CONDITIONAL, None, {"preset": "log"})

    assert used(CONDITIONAL, settings) == {"preset": "log", "direct": True}
    assert missing(CONDITIONAL, settings) == ()
    assert [parameter.name for parameter in missing(CONDITIONAL, resolve(CONDITIONAL, None, {}))] == ["depth"]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"block": 65536}, "io.disk.block has no effect with preset=scan: remove block, or set preset to custom"),
        ({"block": 8192}, "io.disk.block has no effect with preset=scan: remove block, or set preset to custom"),
        ({"preset": "log", "depth": 2}, "with preset=log: remove depth, or set preset to one of custom, scan"),
        ({"direct": False, "depth": 2}, "with direct=no: remove depth, or set direct to yes"),
    ],
)
def test_what_the_user_typed_and_has_no_effect_is_refused_even_where_it_is_the_default(
    chosen: dict[str, SettingValue], message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        refuse_unused(CONDITIONAL, resolve(CONDITIONAL, None, chosen), chosen)

    assert message in str(refused.value)


def test_what_has_an_effect_may_be_typed() -> None:
    chosen: dict[str, SettingValue] = {"preset": "custom", "block": 512, "depth": 2}

    refuse_unused(CONDITIONAL, resolve(CONDITIONAL, None, chosen), chosen)


PROBE = """[[probe]]
name = "a.b"
title = "A"
summary = "A."
touches = "nothing"
method = "m"
series = [{ name = "time", title = "Time", unit = "ns", better = "lower" }]
"""


def test_a_manifest_that_names_no_parameter_of_its_own_is_malformed() -> None:
    text = f"""schema = "sizeup.probe/1"
{PROBE}[[probe.parameter]]
name = "block"
type = "int"
help = "n"
used_with = {{ prest = ["custom"] }}
"""
    with pytest.raises(
        MalformedError, match=r"used_with of parameter block: expected a parameter of a\.b, found 'prest'"
    ):
        parse_manifest(text, "probe.toml")


SHARING = f"""
schema = "sizeup.probe/1"
[[shared]]
name = "budget"
type = "seconds"
default = 4.0
minimum = 0.1
help = "how long"
{PROBE}parameter = [{{ name = "block", type = "int", default = 1, help = "n" }}]
shared = {{ budget = {{ default = 8.0 }} }}
"""


def test_a_shared_parameter_follows_those_of_a_probe_with_what_the_probe_changes() -> None:
    (manifest,) = parse_manifest(SHARING, "probe.toml")

    assert [one.name for one in manifest.parameter] == ["block", "budget"]
    assert manifest.parameter[1] == Parameter("budget", "seconds", "how long", default=8.0, minimum=0.1)


@pytest.mark.parametrize(
    ("before", "after", "mistake"),
    [
        ("{ budget = {", "{ bugdet = {", r"shared of a\.b: expected a parameter of \[\[shared\]\], found 'bugdet'"),
        ("default = 8.0", "default = 0.0", r"default of parameter budget: expected a time .* of at least 100 ms"),
        ("default = 8.0", 'type = "int"', "shared: expected a table whose values"),
        ('name = "block"', 'name = "budget"', "parameter budget: expected a name of its own for each, found 2"),
        ("[[probe]]", '[[shared]]\nname="budget"\ntype="int"\nhelp=""\n[[probe]]', "shared budget: expected a name of"),
    ],
)
def test_a_shared_parameter_that_contradicts_is_a_mistake(before: str, after: str, mistake: str) -> None:
    with pytest.raises(MalformedError, match=mistake):
        parse_manifest(SHARING.replace(before, after, 1), "probe.toml")
