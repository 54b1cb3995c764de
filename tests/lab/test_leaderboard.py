"""Several comparisons in one table."""

from __future__ import annotations

import pytest

from bench.leaderboard import leaderboard, read_boards
from focused.lab.measure import CrawlFigures
from focused.lab.plan import MeasuredCrawl, Plan, Results, TaughtEntrant, write_results

TOPICS = ("birds", "storms")


def run(topic, row, start, *, share, found, cpu=5.0):
    figures = CrawlFigures(
        pages=50,
        requests=60,
        robots=1,
        found={50: found},
        found_in_all=found,
        r_precision=found / 20,
        harvest_at_n=None,
        loss_at_n=None,
        harvest=None,
        loss=None,
        curve=[0, found],
    )
    return MeasuredCrawl(topic=topic, row=row, start=start, figures=figures, share=share, cpu_ms=cpu)


def results(out, web="small", kind="far"):
    plan = Plan(
        topics=list(TOPICS),
        web=[f"{web}.warc.gz"],
        prioritizers=["random", "good", "pupil"],
        pages=50,
        out=str(out),
        start=kind,
        budgets=(50,),
        limits=("bound",),
    )
    runs = [run(topic, "random", start, share=0.1, found=1) for topic in TOPICS for start in (0, 1)]
    runs += [run("birds", "good", 0, share=0.8, found=8), run("birds", "good", 1, share=0.6, found=6)]
    runs += [run("storms", "good", 0, share=0.4, found=4), run("storms", "good", 1, share=0.6, found=6)]
    runs += [run("birds", "pupil", start, share=0.5, found=5) for start in (0, 1)]
    runs += [run(topic, "bound", start, share=1.0, found=10, cpu=None) for topic in TOPICS for start in (0, 1)]
    return Results(
        command=["scrapy", "compare"],
        versions={},
        plan=plan,
        targets=dict.fromkeys(TOPICS, 20),
        examples=dict.fromkeys(TOPICS, 5),
        starts={topic: [["http://a.example/"], ["http://b.example/"]] for topic in TOPICS},
        runs=runs,
        taught=[TaughtEntrant(topic="storms", row="pupil", start=0, paths=0, pages=0, refused="no goal")],
    )


def written(folder, **changes):
    folder.mkdir()
    write_results(results(folder, **changes), folder)
    return str(folder)


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_rows_are_ordered_by_share_and_those_on_paper_come_last(tmp_path):
    lines = list(leaderboard(read_boards([written(tmp_path / "a")])))
    assert [cells(line)[0] for line in lines[2:6]] == ["`good`", "`pupil`", "`random`", "`bound`"]


def test_means_are_over_topics_and_spreads_over_starts(tmp_path):
    lines = list(leaderboard(read_boards([written(tmp_path / "a")])))
    assert cells(lines[0]) == ["", "small far: share", "small far: R-prec.", "small far: CPU ms"]
    assert cells(lines[2]) == ["`good`", "0.600 ±0.000", "0.300 ±0.000", "5.0 ±0.0"]
    assert cells(lines[5]) == ["`bound`", "1.000 ±0.000", "0.500 ±0.000", ""]
    found = lines[lines.index("Targets found:") + 2 :]
    assert cells(found[2]) == ["`good`", "6.0 ±0.0"]


def test_a_mean_of_some_crawls_only_says_so_and_why(tmp_path):
    lines = list(leaderboard(read_boards([written(tmp_path / "a")])))
    assert cells(lines[3])[1] == "0.500 ±0.000 (2 of 4)"
    assert lines[-1] == "- small far: storms, start 0: pupil was not taught: no goal"


def test_comparisons_stand_side_by_side_under_names_of_their_own(tmp_path):
    folders = [written(tmp_path / "a"), written(tmp_path / "b"), written(tmp_path / "c", web="other", kind="root")]
    names = [board.name for board in read_boards(folders)]
    assert names == [f"small far ({folders[0]})", f"small far ({folders[1]})", "other root"]
    lines = list(leaderboard(read_boards(folders)))
    assert {len(cells(line)) for line in lines[:6]} == {1 + 3 * 3}


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"results\.json"):
        read_boards([str(tmp_path)])
