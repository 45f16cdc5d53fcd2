"""How time grows with labels, annotators, classes and threads: a table of measurements and a plot of them."""

from __future__ import annotations

from benchmarks.crowds import Crowd, annotations
from benchmarks.measure import seconds

CURVES = {
    "labels": [Crowd(items) for items in (2_000, 20_000, 200_000, 2_000_000)],
    "annotators": [Crowd(200_000, annotators=m) for m in (10, 100, 1_000, 10_000, 100_000)],
    "classes": [Crowd(200_000, annotators=100, classes=k) for k in (2, 4, 8, 16, 32)],
}
THREADS = (1, 2)


def curves():
    """Rows of curve, x, work and seconds."""
    rows = []
    for curve, crowds in CURVES.items():
        for crowd in crowds:
            x = {"labels": crowd.labels, "annotators": crowd.annotators, "classes": crowd.classes}[curve]
            rows += [{"curve": curve, "x": x, **row} for row in measured(crowd)]
    for threads in THREADS:
        rows += [{"curve": "threads", "x": threads, **row} for row in measured(Crowd(2_000_000), threads)]
    return rows


def measured(crowd, threads=None):
    """Seconds of an EM pass, of counting pairs, of MultiSPA's algebra and of labelling."""
    from covote.engines.memory import MemoryEngine
    from covote.methods.dawid_skene import majority_start
    from covote.methods.multispa import multispa

    engine = MemoryEngine(annotations(crowd)[0], threads=threads)
    scores = majority_start(engine).scores()
    partners = 20 if crowd.annotators > 2_000 else None
    engine.expected_counts(scores)
    engine.labels(scores)
    counting, counts = seconds(lambda: engine.pair_counts(partners), 2)
    works = {
        "EM pass": seconds(lambda: engine.expected_counts(scores), 3)[0],
        "pair counts": counting,
        "MultiSPA from counts": seconds(lambda: multispa(counts), 1)[0],
        "labels": seconds(lambda: engine.labels(scores), 3)[0],
    }
    return [{"work": work, "seconds": value} for work, value in works.items()]


def plot(rows, path):
    """One panel a curve, both axes logarithmic."""
    import altair as alt

    charts = []
    for curve in ("labels", "annotators", "classes", "threads"):
        values = [row for row in rows if row["curve"] == curve]
        axes = alt.Axis(values=sorted({row["x"] for row in values}), format="~s", grid=False)
        base = alt.Chart(alt.Data(values=values), width=210, height=190, title=f"by {curve}")
        charts.append(
            base.mark_line(point=True).encode(
                x=alt.X("x:Q", scale=alt.Scale(type="log", nice=False), axis=axes, title=curve),
                y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5), title="seconds"),
                color=alt.Color("work:N", title=None),
            )
        )
    alt.hconcat(*charts).configure_legend(orient="bottom").save(str(path), scale_factor=2)
