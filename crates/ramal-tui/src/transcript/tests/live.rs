//! Turns that go on.

use proptest::prelude::*;
use ramal_agent::{AgentEvent, CompactionReason};
use ramal_model::{Block as Part, Event};

use super::*;

/// A turn, a window, and all that was printed.
struct Window {
    turn: LiveTurn,
    printed: String,
    columns: usize,
    hide_thinking: bool,
    now: Timestamp,
}

impl Window {
    fn new(columns: usize) -> Window {
        let turn = LiveTurn::new("/work");
        Window { turn, printed: String::new(), columns, hide_thinking: false, now: now() }
    }

    fn tell(&mut self, event: AgentEvent) {
        self.turn.event(&event, now());
        let options = Options { hide_thinking: self.hide_thinking, ..Options::at(self.now) };
        let lines = self.turn.take_final(self.columns, &Theme::dark(), &options);
        self.printed += &drawn(&lines);
    }

    fn open(&mut self) -> String {
        let options = Options { hide_thinking: self.hide_thinking, ..Options::at(self.now) };
        drawn(&self.turn.open_lines(self.columns, &Theme::dark(), &options))
    }

    #[track_caller]
    fn check(&mut self, printed: &str, open: &str) {
        let shown = self.open();
        same(&std::mem::take(&mut self.printed), printed);
        same(&shown, open);
    }

    fn says(&mut self, event: Event, message: &str) {
        self.tell(AgentEvent::MessageUpdate { message: message.into(), event, block: None });
    }
}

fn starts(message: &str) -> AgentEvent {
    AgentEvent::MessageStart { message: message.into() }
}

fn ends(message: &str, entry_id: &str) -> AgentEvent {
    AgentEvent::MessageEnd { message: message.into(), entry_id: entry_id.into() }
}

fn delta(block: usize, delta: &str) -> Event {
    Event::TextDelta { block, delta: delta.into() }
}

#[test]
fn a_turn_is_printed_as_it_becomes_final() {
    let mut window = Window::new(40);
    window.tell(ends(&user("Why?"), "a1"));
    window.check("❯ Why?\n", "");
    window.tell(starts(&answer("", "stop")));
    window.says(Event::TextStart { block: 0 }, "{}");
    window.says(delta(0, "Let me *se"), "{}");
    window.check("", "\n\nLet me *se\n");
    window.says(delta(0, "e*.\n\nThen"), "{}");
    window.check("\n\nLet me see.\n", "\n\nThen\n");
    window.says(delta(0, ":"), "{}");
    window.says(Event::BlockEnd { block: 0 }, "{}");
    window.check("\n\nThen:\n", "");
    window.says(Event::ToolCallStart { block: 1, id: "c1".into(), name: "bash".into() }, "{}");
    window.check("", "\n\n● bash\n");
    let arguments = r#"{"command":"make"}"#;
    let part =
        Part::ToolCall { id: "c1".into(), name: "bash".into(), arguments: arguments.into(), signature: None };
    let event = Event::BlockEnd { block: 1 };
    window.tell(AgentEvent::MessageUpdate { message: "{}".into(), event, block: Some(part) });
    window.check("", "\n\n● bash make\n");
    let calls = [
        text("Let me *see*.\n\nThen:"),
        call("c1", "bash", arguments),
        call("c2", "read", r#"{"path":"x"}"#),
    ];
    window.tell(ends(&answer(&calls.join(","), "toolUse"), "a2"));
    window.check("", "\n\n● bash make\n● read x\n");
    window.tell(AgentEvent::ToolExecutionUpdate {
        tool_call_id: "c1".into(),
        tool_name: "bash".into(),
        args: arguments.into(),
        partial_result: r#"{"content":[{"type":"text","text":"1\n2\n3\n4\n5\n6\n7"}]}"#.into(),
    });
    window.check("", "\n\n● bash make\n  3\n  4\n  5\n  6\n  7\n● read x\n");
    window.tell(AgentEvent::ToolExecutionEnd {
        tool_call_id: "c2".into(),
        tool_name: "read".into(),
        result: r#"{"content":[{"type":"text","text":"one"}]}"#.into(),
        is_error: false,
    });
    window.tell(ends(&result("c2", "read", "one", ""), "a3"));
    // It waits for the one before it.
    window.check("", "\n\n● bash make\n  3\n  4\n  5\n  6\n  7\n✓ read x · 1 line\n");
    window.tell(ends(&result("c1", "bash", "1\n2", r#","isError":true,"details":{"exitCode":2}"#), "a4"));
    window.check("\n\n✗ bash make · exit 2\n✓ read x · 1 line\n", "");
    assert!(window.turn.is_empty());
}

#[test]
fn retries_count_down() {
    let mut window = Window::new(60);
    window.tell(AgentEvent::AutoRetryStart {
        attempt: 2,
        max_attempts: 3,
        delay_ms: 4000,
        error_message: "overloaded".into(),
    });
    window.check("", "waiting 4 s, attempt 2 of 3: overloaded\n");
    window.now = now().checked_add(std::time::Duration::from_millis(2500)).unwrap();
    window.check("", "waiting 2 s, attempt 2 of 3: overloaded\n");
    window.tell(starts(&answer("", "stop")));
    window.check("attempt 2 of 3: overloaded\n", "");
}

#[test]
fn errors_aborts_and_notices_are_told() {
    let mut window = Window::new(60);
    window.tell(starts(&answer("", "stop")));
    window.says(Event::TextStart { block: 0 }, "{}");
    window.says(delta(0, "Half"), "{}");
    let calls = [text("Half"), call("c1", "bash", r#"{"command":"make"}"#)];
    window.tell(ends(&answer(&calls.join(","), "aborted"), "a1"));
    window.check("Half\n\n✗ bash make · no result\n\n✗ aborted\n", "");
    window.tell(AgentEvent::Notice { message: "The disk\u{1b} is full.".into() });
    window.tell(AgentEvent::HookError { hook: "h.ts".into(), event: "turn_start", error: "oops".into() });
    window.check("\n\n! The disk␛ is full.\n\n✗ h.ts failed at turn_start: oops\n", "");
    window.tell(AgentEvent::CompactionStart { reason: CompactionReason::Manual });
    window.check("", "\n\ncompacting the conversation…\n");
    window.tell(AgentEvent::CompactionEnd {
        reason: CompactionReason::Manual,
        result: Some(r#"{"summary":"All\nof it.","tokensBefore":12000}"#.into()),
        aborted: false,
        will_retry: false,
        error_message: None,
    });
    window.check("\n\n▸ compaction of 12k tokens: All · 2 lines\n", "");
}

#[test]
fn calls_that_never_ran_end_with_the_turn() {
    let mut window = Window::new(60);
    window.tell(ends(&answer(&call("c1", "read", r#"{"path":"x"}"#), "toolUse"), "a1"));
    window.check("", "● read x\n");
    window.tell(AgentEvent::AgentEnd { messages: Vec::new(), aborted: false });
    window.check("✗ read x · no result\n", "");
}

#[test]
fn hidden_thoughts_are_one_line() {
    let mut window = Window::new(40);
    window.hide_thinking = true;
    window.tell(starts(&answer("", "stop")));
    window.says(Event::ThinkingStart { block: 0 }, "{}");
    window.says(Event::ThinkingDelta { block: 0, delta: "a\n\nb\n\nc".into() }, "{}");
    window.check("", "thinking…\n");
    window.says(Event::BlockEnd { block: 0 }, "{}");
    window.check("thinking…\n", "");
    window.tell(ends(&answer(&[thinking("a\n\nb\n\nc"), text("said")].join(","), "stop"), "a1"));
    window.check("\n\nsaid\n", "");
}

#[test]
fn who_comes_late_sees_the_whole_answer() {
    let mut window = Window::new(40);
    let so_far = answer(&[thinking("hm"), text("One.\n\nTw")].join(","), "stop");
    window.says(delta(1, "Tw"), &so_far);
    window.says(delta(1, "o."), "{}");
    window.check("", "hm\n\nOne.\n\nTwo.\n");
    window.tell(ends(&answer(&[thinking("hm"), text("One.\n\nTwo.")].join(","), "stop"), "a1"));
    window.check("hm\n\nOne.\n\nTwo.\n", "");
}

#[test]
fn another_width_loses_nothing() {
    let mut window = Window::new(20);
    window.tell(starts(&answer("", "stop")));
    window.says(Event::TextStart { block: 0 }, "{}");
    window.says(delta(0, "one two three four five\n\nsix seven eight nine ten"), "{}");
    window.check("one two three four\nfive\n", "\n\nsix seven eight nine\nten\n");
    window.columns = 12;
    window.says(delta(0, " eleven\n\nend"), "{}");
    window.check("\n\nsix seven\neight nine\nten eleven\n", "\n\nend\n");
}

/// A text as markdown makes it difficult, and where it is cut.
fn pieces() -> impl Strategy<Value = Vec<String>> {
    let piece = proptest::sample::select(vec![
        "word ",
        "*em* ",
        "\n",
        "\n\n",
        "- item\n",
        "```rs\n",
        "let a;\n",
        "```\n",
        "# head\n",
        "|a|b|\n|-|-|\n|c|d|\n",
        "> said\n",
        "long-word-without-end ",
        "日本 ",
        "`code` ",
        "[a]: /u\n",
    ]);
    proptest::collection::vec(piece.prop_map(str::to_owned), 0..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_was_printed_is_what_the_transcript_shows(
        thought in pieces(), said in pieces(), columns in 1_usize..90, hide_thinking in any::<bool>(),
    ) {
        let call_json = call("c", "read", r#"{"path":"x"}"#);
        let parts = [thinking(&thought.concat()), text(&said.concat()), call_json];
        let message = answer(&parts.join(","), "toolUse");
        let mut window = Window::new(columns);
        window.hide_thinking = hide_thinking;
        window.tell(ends(&user("Why?"), "a0"));
        window.tell(starts(&answer("", "stop")));
        window.says(Event::ThinkingStart { block: 0 }, "{}");
        for piece in &thought {
            window.says(Event::ThinkingDelta { block: 0, delta: piece.clone() }, "{}");
        }
        window.says(Event::BlockEnd { block: 0 }, "{}");
        window.says(Event::TextStart { block: 1 }, "{}");
        for piece in &said {
            window.says(delta(1, piece), "{}");
        }
        window.tell(ends(&message, "a1"));
        window.tell(ends(&result("c", "read", "x\ny", ""), "a2"));
        window.tell(AgentEvent::AgentEnd { messages: Vec::new(), aborted: false });

        let mut session = SessionManager::in_memory("/work");
        for message in [user("Why?"), message, result("c", "read", "x\ny", "")] {
            session.append_message(&message).unwrap();
        }
        let options = Options { hide_thinking, ..Options::at(now()) };
        let whole = drawn(&lines(whole(&session).blocks(), columns, &Theme::dark(), &options));
        prop_assert!(window.turn.is_empty());
        prop_assert_eq!(window.printed, whole);
    }
}

#[test]
fn what_somebody_appends_stands_where_it_came() {
    let mut session = SessionManager::in_memory(std::path::Path::new("/work"));
    let mut window = Window::new(60);
    let seen = session.append_custom_message_entry("note", "\"look\"", true, None).unwrap();
    let hidden = session.append_custom_message_entry("note", "\"hidden\"", false, None).unwrap();
    let label = session.append_label_change(&seen, Some("here")).unwrap();
    for id in [&seen, &hidden, &label] {
        window.turn.entry(&session.get_entry(id).unwrap().read().unwrap());
    }
    window.tell(AgentEvent::TurnStart);
    assert_eq!(window.printed.matches("look").count(), 1, "{}", window.printed);
    assert!(!window.printed.contains("hidden"));
    assert_eq!(window.turn.last_taken().unwrap().entry_id(), Some(&seen));
}
