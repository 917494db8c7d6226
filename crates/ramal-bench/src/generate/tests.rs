//! What every generated session must hold to.

use std::collections::HashMap;

use serde_json::Value;

use super::*;

fn plan(entries: u32, bytes: u32, shape: Shape) -> Plan {
    Plan { bytes_per_entry: bytes, ..Plan::new(entries, shape) }
}

fn bytes(plan: &Plan) -> Vec<u8> {
    let mut out = Vec::new();
    let written = write_session(plan, &mut out).unwrap();
    assert_eq!(written.bytes, out.len() as u64);
    out
}

fn lines(plan: &Plan) -> Vec<Value> {
    let text = String::from_utf8(bytes(plan)).unwrap();
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Checks ids, parents, times and references, and returns every entry's depth.
fn checked_depths(plan: &Plan) -> Vec<u32> {
    let lines = lines(plan);
    let (header, entries) = lines.split_first().unwrap();
    assert_eq!(header["type"], "session");
    assert_eq!(header["version"], 3);
    assert_eq!(entries.len(), plan.entries as usize);

    let mut depths: HashMap<&str, u32> = HashMap::new();
    let mut in_order = Vec::new();
    let mut parents: HashMap<&str, &str> = HashMap::new();
    let mut time = header["timestamp"].as_str().unwrap();
    for entry in entries {
        let id = entry["id"].as_str().unwrap();
        assert_eq!(id.len(), 8);
        assert!(id.bytes().all(|b| b"0123456789abcdef".contains(&b)));
        let depth = match entry["parentId"].as_str() {
            Some(parent) => {
                parents.insert(id, parent);
                depths[parent] + 1
            }
            None => {
                assert!(entry["parentId"].is_null() && in_order.is_empty());
                0
            }
        };
        assert_eq!(depths.insert(id, depth), None, "{id} stands twice");
        in_order.push(depth);

        let now = entry["timestamp"].as_str().unwrap();
        assert!(now > time && now.len() == 24 && now.ends_with('Z'));
        time = now;

        if let Some(target) = entry["targetId"].as_str() {
            assert!(depths.contains_key(target));
        }
        if let Some(kept) = entry["firstKeptEntryId"].as_str() {
            let mut above = id;
            while above != kept {
                above = parents[above];
            }
        }
    }
    in_order
}

#[test]
fn every_shape_and_size_is_a_sound_session() {
    for shape in [Shape::Linear, Shape::Branchy, Shape::Fan, Shape::Deep] {
        for size in [SMALLEST_ENTRY_BYTES, 170, 400, 600, 1_070, 4_000] {
            let mut plan = plan(700, size, shape);
            plan.compact_every = Some(150);
            checked_depths(&plan);
        }
    }
}

#[test]
fn the_average_size_is_the_one_asked_for() {
    for shape in [Shape::Linear, Shape::Branchy, Shape::Fan, Shape::Deep] {
        for size in [SMALLEST_ENTRY_BYTES, 170, 250, 599, 600, 1_070, 4_000] {
            for entries in [400, 2_000] {
                let bytes = bytes(&plan(entries, size, shape)).len() as f64;
                let wrong = bytes / f64::from(entries) / f64::from(size) - 1.0;
                assert!(wrong.abs() < 0.15, "{shape:?} {size} × {entries}: {wrong:+.3}");
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_others() {
    let plan = plan(300, 1_070, Shape::Branchy);
    let other = Plan { seed: 2, ..plan.clone() };
    assert_eq!(bytes(&plan), bytes(&plan));
    assert_ne!(bytes(&plan), bytes(&other));
}

#[test]
fn the_shapes_are_what_they_are_called() {
    let last = |shape| {
        let depths = checked_depths(&plan(3_000, 1_070, shape));
        (depths[2_999], depths.into_iter().max().unwrap())
    };
    assert_eq!(last(Shape::Linear).0, 2_999);
    assert_eq!(last(Shape::Deep).0, 2_999);
    assert!(last(Shape::Fan).1 < 60);
    let (branchy, _) = last(Shape::Branchy);
    assert!((600..2_900).contains(&branchy), "{branchy}");
}

#[test]
fn forks_go_back_and_come_often_enough() {
    let plan = plan(5_000, 1_070, Shape::Branchy);
    let lines = lines(&plan);
    let place: HashMap<&str, usize> =
        lines[1..].iter().enumerate().map(|(at, entry)| (entry["id"].as_str().unwrap(), at)).collect();
    let back: Vec<usize> = lines[2..]
        .iter()
        .enumerate()
        .map(|(at, entry)| at - place[entry["parentId"].as_str().unwrap()])
        .filter(|back| *back > 0)
        .collect();
    assert!((60..150).contains(&back.len()), "{} forks", back.len());
    assert!(back.iter().all(|back| *back <= 220));
}

#[test]
fn every_call_has_its_result_right_behind_it() {
    let mut open = Vec::new();
    for entry in &lines(&plan(2_000, 1_070, Shape::Branchy))[1..] {
        let message = &entry["message"];
        if message["role"] == "toolResult" {
            assert_eq!(open.remove(0), message["toolCallId"]);
        } else {
            assert!(open.is_empty());
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "toolCall" {
                open.push(block["id"].clone());
            }
        }
    }
}

#[test]
fn all_kinds_of_entries_occur() {
    let mut plan = plan(6_000, 1_070, Shape::Linear);
    plan.name = Some("a \"name\"".to_owned());
    let lines = lines(&plan);
    for kind in
        ["message", "label", "custom", "model_change", "thinking_level_change", "compaction", "session_info"]
    {
        assert!(lines.iter().any(|line| line["type"] == kind), "{kind}");
    }
    for role in ["user", "assistant", "toolResult", "bashExecution"] {
        assert!(lines.iter().any(|line| line["message"]["role"] == role), "{role}");
    }
}

#[test]
fn text_has_the_escapes_that_readers_stumble_over() {
    let text = String::from_utf8(bytes(&plan(500, 1_070, Shape::Linear))).unwrap();
    for escape in [r"\n", r#"\""#, r"\\", r"\u001b", r"\ud83d\ude80", "日付", "→"] {
        assert!(text.contains(escape), "{escape}");
    }
}

#[test]
fn a_size_that_cannot_be_kept_is_refused() {
    let error = write_session(&plan(10, 100, Shape::Linear), &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn one_entry_is_a_session_too() {
    assert_eq!(checked_depths(&plan(1, 1_070, Shape::Branchy)), [0]);
    assert_eq!(lines(&plan(0, 1_070, Shape::Branchy)).len(), 1);
}
