//! `check`.

use std::fs;

use super::world::{World, sample};

#[test]
fn whole_and_damaged_sessions_are_told_apart() {
    let world = World::new();
    let (whole, damaged) = (sample("date-parser.jsonl"), sample("damaged.jsonl"));
    let run = world.run(["check", &whole]).done();
    assert!(run.out.contains("date-parser.jsonl: whole, 69 entries"), "{}", run.out);
    let run = world.run(["check", &whole, &damaged, "/no/such.jsonl"]);
    assert_eq!(run.status, 1);
    for words in ["whole", "damaged, 5 entries", "line 5", "2 whole entries", "--repair"] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    assert!(run.err.contains("error: /no/such.jsonl"), "{}", run.err);
    world.run(["check"]).failed(1, &["no session of"]);
}

#[test]
fn repair_keeps_the_old_bytes() {
    let world = World::new();
    let old = fs::read(sample("damaged.jsonl")).unwrap();
    let path = world.write("work/d.jsonl", &old);
    let run = world.run(["check", "d.jsonl", "--repair"]).done();
    assert!(run.out.contains("It is whole now: 7 entries"), "{}", run.out);
    let backup = fs::read_dir(world.path("work")).unwrap().map(|entry| entry.unwrap().path());
    let backup = backup.filter(|path| path.extension().is_some_and(|end| end == "bak")).collect::<Vec<_>>();
    assert_eq!(backup.len(), 1);
    assert_eq!(fs::read(&backup[0]).unwrap(), old);
    let mended = fs::read(&path).unwrap();
    assert!(world.run(["check", "d.jsonl", "--repair"]).done().out.contains("whole, 7 entries"));
    assert_eq!(fs::read(&path).unwrap(), mended);
}

#[test]
fn what_cannot_be_mended_stays_damaged() {
    let world = World::new();
    let text = super::world::session("s1", &world.path("work"), &[super::world::user("X")]);
    world.write("work/u.jsonl", text.replace("\"X\"", "oops"));
    let run = world.run(["check", "u.jsonl", "--repair"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.contains("no JSON") && run.out.contains("cannot be mended"), "{}", run.out);
}

#[test]
fn as_json() {
    let world = World::new();
    let old = fs::read(sample("damaged.jsonl")).unwrap();
    world.write("work/d.jsonl", &old);
    let run = world.run(["check", "d.jsonl", "--json"]);
    assert_eq!(run.status, 1);
    let row: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&row["status"], &row["damageCount"]), (&"damaged".into(), &5.into()));
    let kinds: Vec<_> = row["findings"].as_array().unwrap().iter().map(|f| f["kind"].clone()).collect();
    assert_eq!(kinds, ["damagedLine", "damagedLine", "orphan", "orphan", "tornTail"]);
    let row = world.json(&["check", "d.jsonl", "--repair"]);
    assert_eq!((&row["isRepaired"], &row["damageLeft"]), (&true.into(), &0.into()));
    assert!(row["backupFile"].as_str().unwrap().ends_with(".bak"));
}
