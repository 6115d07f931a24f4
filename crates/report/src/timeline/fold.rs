//! Making a long timeline short enough to look at.

use super::{Edge, Row, Timeline};

/// Stretches of one thread with more rows than this, of which nothing is to be
/// said, become one row.
const FOLD: usize = 8;

/// Rows that stay as they are around a meeting.
const AROUND: usize = 6;

/// Folds stretches of one thread without edges and away from meetings.
pub(super) fn fold(timeline: &Timeline) -> Timeline {
    let rows = &timeline.rows;
    let mut keep = vec![false; rows.len()];
    for edge in &timeline.edges {
        for end in [edge.from, edge.to] {
            if let Some(keep) = keep.get_mut(end) {
                *keep = true;
            }
        }
    }
    for meeting in timeline.meetings() {
        let around = meeting.saturating_sub(AROUND)..(meeting + AROUND + 1).min(rows.len());
        keep.get_mut(around).unwrap_or_default().fill(true);
    }
    let mut folded = Vec::new();
    // Where each row went.
    let mut moved = Vec::with_capacity(rows.len());
    let together = |at: usize| !keep[at] && rows[at].lane.is_some();
    let mut at = 0;
    while at < rows.len() {
        let same = |next: &usize| together(*next) && rows[*next].lane == rows[at].lane;
        let stretch = (at..rows.len()).take_while(same).count();
        if stretch > FOLD {
            let many = rows[at..at + stretch]
                .iter()
                .map(|r| r.many.unwrap_or(1))
                .sum();
            moved.extend(std::iter::repeat_n(folded.len(), stretch));
            folded.push(Row {
                step: rows[at].step,
                lane: rows[at].lane,
                what: format!("{many} steps"),
                many: Some(many),
                ..Row::default()
            });
            at += stretch;
        } else {
            moved.push(folded.len());
            folded.push(rows[at].clone());
            at += 1;
        }
    }
    let edges = timeline.edges.iter().filter_map(|edge| {
        Some(Edge {
            from: *moved.get(edge.from)?,
            to: *moved.get(edge.to)?,
            order: edge.order,
        })
    });
    Timeline {
        edges: edges.collect(),
        rows: folded,
        ..timeline.clone()
    }
}

/// Keeps at most `most` rows: two thirds before the last meeting, or else the
/// end of the run.
pub(super) fn cut(mut timeline: Timeline, most: usize) -> Timeline {
    let all = timeline.rows.len();
    if all <= most {
        return timeline;
    }
    let middle = timeline.meetings().last().unwrap_or(all);
    let start = middle.saturating_sub(most * 2 / 3).min(all - most);
    let end = start + most;
    let left_out = |rows: &[Row]| {
        let threads = rows.iter().filter(|row| row.lane.is_some());
        let many: u64 = threads.map(|row| row.many.unwrap_or(1)).sum();
        (many > 0).then(|| Row {
            what: format!("{many} steps are left out here"),
            ..Row::default()
        })
    };
    let before = left_out(&timeline.rows[..start]);
    let after = left_out(&timeline.rows[end..]);
    let shift = usize::from(before.is_some());
    timeline.edges.retain_mut(|edge| {
        let inside = |row: usize| (start..end).contains(&row);
        let both = inside(edge.from) && inside(edge.to);
        if both {
            edge.from = edge.from - start + shift;
            edge.to = edge.to - start + shift;
        }
        both
    });
    let kept = timeline.rows.drain(start..end);
    let rows = before.into_iter().chain(kept).chain(after).collect();
    timeline.rows = rows;
    timeline
}
