"""Which files are merged: neighbours of about one size, and never a file that must stay as it is."""

from lakestream.catalog.topic.merge_plan import (
    MergeLimits,
    Retention,
    Run,
    Unit,
    all_groups_of,
    groups_of,
    runs_of,
    within,
)
from lakestream.catalog.topic.mergeable import LogFile, Standing
from lakestream.model.job import FileUse

FOLDER = "file:///t-log"
LIMITS = MergeLimits(target_bytes=1_000, files_min=4)


def unit(number: int, bytes: int, *, at_ms: int = 0, standing: Standing = Standing.ON_MAIN) -> Unit:
    file = LogFile(f"{FOLDER}/{number:03d}/f.parquet", bytes, standing, None, 1)
    return Unit(file, None, 10 * bytes, at_ms, at_ms)


def run_of(*sizes: int) -> Run:
    return [unit(number, size) for number, size in enumerate(sizes)]


def sizes(groups: list[Run]) -> list[list[int]]:
    return [[each.bytes for each in group] for group in groups]


def test_enough_small_neighbours_are_merged_and_fewer_wait() -> None:
    assert groups_of(run_of(10, 10, 10), LIMITS) == []
    assert sizes(groups_of(run_of(10, 10, 10, 10, 10), LIMITS)) == [[10, 10, 10, 10, 10]]


def test_larger_files_are_left_alone_while_small_ones_gather_behind_them() -> None:
    assert groups_of(run_of(500, 10, 10, 10), LIMITS) == []
    assert sizes(groups_of(run_of(500, 10, 10, 10, 10), LIMITS)) == [[10, 10, 10, 10]]


def test_files_of_one_size_class_become_one_of_the_next() -> None:
    assert sizes(groups_of(run_of(40, 40, 40, 40, 10), LIMITS)) == [[40, 40, 40, 40, 10]]
    assert sizes(groups_of(run_of(160, 160, 160, 160, 10), LIMITS)) == [[160, 160, 160, 160, 10]]


def test_a_full_group_does_not_wait_for_more_files() -> None:
    assert sizes(groups_of(run_of(400, 400, 400), LIMITS)) == [[400, 400]]
    assert groups_of(run_of(400, 400), LIMITS) == []


def test_a_file_that_is_large_enough_is_never_merged() -> None:
    run = run_of(*[800] * 20)
    assert groups_of(run, LIMITS) == [] and all_groups_of(run, LIMITS) == []


def test_a_record_is_rewritten_a_few_times_and_files_stay_few() -> None:
    """A file of one byte after the other, merged whenever it is worth it."""
    run: Run = []
    rewritten = 0
    for number in range(4_000):
        run.append(unit(number, 1))
        while groups := groups_of(run, LIMITS):
            for group in groups:
                rewritten += sum(each.bytes for each in group)
                at = run.index(group[0])
                run[at : at + len(group)] = [unit(number, sum(each.bytes for each in group))]
    assert len(run) < 4_000 / 750 + 4 * 6
    assert rewritten < 4_000 * 8


def test_a_merged_file_covers_a_small_part_of_the_retention() -> None:
    minutes = [unit(number, 10, at_ms=60_000 * number) for number in range(12)]
    groups = groups_of(minutes, LIMITS, Retention(ms=16 * 180_000))
    assert sizes(groups) == [[10] * 4] * 3
    assert all(group[-1].last_ms - group[0].first_ms <= 180_000 for group in groups)
    assert sizes(groups_of(run_of(*[10] * 12), LIMITS, Retention(bytes=16 * 600))) == [[10] * 6] * 2
    assert groups_of(minutes, LIMITS, Retention(ms=60_000)) == []


def test_everything_can_be_merged_at_once_on_request() -> None:
    assert sizes(all_groups_of(run_of(10, 300, 10, 800, 10, 10), LIMITS)) == [[10, 300, 10], [10, 10]]


def test_a_go_takes_the_first_groups_that_fit_and_at_least_a_part_of_one() -> None:
    groups = [run_of(100, 100), run_of(100, 100), run_of(10, 10)]
    assert sizes(within(groups, 450)) == [[100, 100], [100, 100], [10, 10]]
    assert sizes(within(groups, 250)) == [[100, 100]]
    assert sizes(within([run_of(100, 100, 100, 100)], 250)) == [[100, 100]]
    assert within([run_of(200, 200)], 250) == []


def use(path: str, log_file: str | None = None, at_ms: int = 0) -> FileUse:
    return FileUse(path, log_file, 100, at_ms, at_ms)


def on_log(path: str, standing: Standing = Standing.ON_MAIN) -> LogFile:
    return LogFile(path, 10, standing, None, 1)


def names(runs: list[Run]) -> list[list[str]]:
    return [[path.removeprefix(f"{FOLDER}/") for each in run for path in each.paths] for run in runs]


def test_a_run_ends_at_files_that_must_stay_and_where_the_branches_differ() -> None:
    standings = {
        "a": Standing.ON_MAIN,
        "b": Standing.ON_MAIN,
        "tied": Standing.TIED,
        "c": Standing.ON_LOG_ALONE,
        "d": Standing.ON_LOG_ALONE,
        "e": Standing.ON_MAIN,
        "f": Standing.ON_MAIN,
    }
    files = {f"{FOLDER}/{name}": on_log(f"{FOLDER}/{name}", standing) for name, standing in standings.items()}
    uses = [use(path, at_ms=at) for at, path in enumerate(files)]
    assert names(runs_of(uses, files, folder=FOLDER)) == [["a", "b"], ["c", "d"], ["e", "f"]]


def test_files_of_others_and_files_that_left_the_log_end_a_run() -> None:
    files = {path: on_log(path) for path in (f"{FOLDER}/a", f"{FOLDER}/b", "file:///t/data/theirs", f"{FOLDER}/c")}
    uses = [use(path) for path in (*files, f"{FOLDER}/gone", f"{FOLDER}/d")]
    assert names(runs_of(uses, files, folder=FOLDER)) == [["a", "b"]]


def test_a_file_and_its_second_one_are_one_unit() -> None:
    shown, hidden = f"{FOLDER}/1/0.parquet", f"{FOLDER}/1/0-log.parquet"
    alone = f"{FOLDER}/2/0-log.parquet"
    files = {
        shown: on_log(shown),
        hidden: on_log(hidden, Standing.ON_LOG_ALONE),
        alone: on_log(alone, Standing.ON_LOG_ALONE),
    }
    uses = [use(shown, hidden), use(shown), use(hidden), use(alone)]
    (run,) = runs_of(uses, files, folder=FOLDER)
    assert [(each.file is not None, each.log_file is not None, each.log_bytes) for each in run] == [
        (True, True, 300),
        (False, True, 100),
    ]
