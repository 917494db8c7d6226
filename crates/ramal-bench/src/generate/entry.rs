//! The lines of a session, one function for each kind of entry.

use std::io::{self, Write};

use super::text::escape;
use super::{Generator, timestamp};

/// The model that answers until somebody changes it.
const MODELS: [&str; 2] = ["claude-sonnet-4-5", "claude-opus-4-5"];

/// A tool call that waits for its result.
pub(super) struct Call {
    id: u64,
    tool: &'static str,
}

impl Generator<'_> {
    pub(super) fn header(&mut self) -> io::Result<()> {
        let id = self.plan.session_id();
        let time = self.plan.start;
        let cwd = quoted(&self.plan.cwd);
        write!(
            self.line,
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{time:.3}","cwd":{cwd}"#
        )?;
        if let Some(parent) = &self.plan.parent_session {
            write!(self.line, r#","parentSession":{}"#, quoted(parent))?;
        }
        self.put("}");
        Ok(())
    }

    pub(super) fn prompt(&mut self) -> io::Result<()> {
        self.message("user")?;
        if self.full() {
            self.put(r#","content":[{"type":"text","text":""#);
            self.prose(35);
            write!(self.line, r#""}}],"timestamp":{}}}}}"#, self.clock)
        } else {
            self.put(r#","content":""#);
            self.prose(20);
            self.put(r#""}}"#);
            Ok(())
        }
    }

    /// The answer that ends a turn.
    pub(super) fn last_answer(&mut self) -> io::Result<()> {
        self.message("assistant")?;
        self.put(r#","content":["#);
        if self.full() && self.random.chance(40) {
            self.thinking();
            self.put(",");
        }
        self.text_block(45);
        self.put("]");
        if self.full() {
            self.usage("stop")?;
        }
        self.put("}}");
        Ok(())
    }

    /// An answer that calls one tool or two.
    pub(super) fn calling_answer(&mut self) -> io::Result<()> {
        self.message("assistant")?;
        self.put(r#","content":["#);
        if self.random.chance(50) {
            self.thinking();
            self.put(",");
        }
        if self.random.chance(40) {
            self.text_block(20);
            self.put(",");
        }
        self.tool_call()?;
        if self.random.chance(25) {
            self.put(",");
            self.tool_call()?;
        }
        self.put("]");
        self.usage("toolUse")?;
        self.put("}}");
        Ok(())
    }

    fn tool_call(&mut self) -> io::Result<()> {
        let call = Call {
            id: self.random.bits(),
            tool: self.random.pick(&["bash", "read", "read", "edit", "write"]),
        };
        let path = self.texts.path(&mut self.random);
        write!(
            self.line,
            r#"{{"type":"toolCall","id":"toolu_{:016x}","name":"{}","arguments":{{"#,
            call.id, call.tool
        )?;
        match call.tool {
            "bash" => {
                write!(self.line, r#""command":"grep -rn \"offset\" {path} | head -{}""#, call.id % 90)?
            }
            "read" => write!(self.line, r#""path":"{path}","offset":{},"limit":200"#, call.id % 900)?,
            "edit" => {
                write!(self.line, r#""path":"{path}","oldText":""#)?;
                self.output(15);
                self.put(r#"","newText":""#);
                self.output(20);
                self.put("\"");
            }
            _ => {
                write!(self.line, r#""path":"{path}","content":""#)?;
                self.output(50);
                self.put("\"");
            }
        }
        self.put("}}");
        self.turn.calls.push_back(call);
        Ok(())
    }

    pub(super) fn tool_result(&mut self, call: &Call) -> io::Result<()> {
        self.message("toolResult")?;
        write!(
            self.line,
            r#","toolCallId":"toolu_{:016x}","toolName":"{}","content":[{{"type":"text","text":""#,
            call.id, call.tool
        )?;
        self.output(150);
        let failed = self.random.chance(6);
        write!(self.line, r#""}}],"isError":{failed},"timestamp":{}}}}}"#, self.clock)
    }

    /// One of the entries that stand between turns now and then.
    pub(super) fn note(&mut self) -> io::Result<()> {
        match self.random.below(10) {
            0..3 => self.label(),
            3..5 => self.bash_execution(),
            5..7 => self.custom(),
            7..9 => {
                let model = self.random.pick(&MODELS);
                self.envelope("model_change")?;
                write!(self.line, r#","provider":"anthropic","modelId":"{model}"}}"#)
            }
            _ => {
                let level = self.random.pick(&["off", "low", "medium", "high"]);
                self.envelope("thinking_level_change")?;
                write!(self.line, r#","thinkingLevel":"{level}"}}"#)
            }
        }
    }

    fn label(&mut self) -> io::Result<()> {
        let target = self.ids.of(self.leaf.unwrap_or(0));
        let label = self.random.pick(&["before the refactoring", "works", "旧い試み", "a \\\"good\\\" one"]);
        self.envelope("label")?;
        self.put(r#","targetId":""#);
        self.line.extend_from_slice(&target);
        write!(self.line, r#"","label":"{label} {}"}}"#, self.number)
    }

    fn bash_execution(&mut self) -> io::Result<()> {
        self.message("bashExecution")?;
        self.put(r#","command":"cargo test 2>&1 | tail -n 40","output":""#);
        self.output(100);
        let code = self.random.below(2);
        write!(
            self.line,
            r#"","exitCode":{code},"cancelled":false,"truncated":false,"timestamp":{}}}}}"#,
            self.clock
        )
    }

    fn custom(&mut self) -> io::Result<()> {
        let count = self.random.below(1_000);
        self.envelope("custom")?;
        write!(self.line, r#","customType":"todo-list","data":{{"open":{count},"items":[{{"text":""#)?;
        self.prose(10);
        self.put(r#"","done":false}]}}"#);
        Ok(())
    }

    pub(super) fn session_info(&mut self, name: &str) -> io::Result<()> {
        self.envelope("session_info")?;
        write!(self.line, r#","name":{}}}"#, quoted(name))
    }

    /// A compaction that keeps the last few turns since the last fork.
    pub(super) fn compaction(&mut self) -> io::Result<()> {
        let kept = self.prompts.front().copied().or(self.leaf).unwrap_or(0);
        let kept = self.ids.of(kept);
        self.envelope("compaction")?;
        self.put(r###","summary":"## Goal\n\n"###);
        self.prose(200);
        self.put(r#"","firstKeptEntryId":""#);
        self.line.extend_from_slice(&kept);
        let tokens = self.random.between(120_000, 190_000);
        write!(
            self.line,
            r#"","tokensBefore":{tokens},"details":{{"readFiles":["src/parse.rs"],"modifiedFiles":["src/lib.rs"]}}}}"#
        )
    }

    fn thinking(&mut self) {
        self.put(r#"{"type":"thinking","thinking":""#);
        self.prose(25);
        self.put(r#"","thinkingSignature":""#);
        let length = self.length(25);
        self.texts.signature(&mut self.random, length, &mut self.line);
        self.put(r#""}"#);
    }

    fn text_block(&mut self, percent: u64) {
        self.put(r#"{"type":"text","text":""#);
        self.prose(percent);
        self.put(r#""}"#);
    }

    /// What an answer says about itself and what it cost.
    fn usage(&mut self, stop: &str) -> io::Result<()> {
        let model = MODELS[self.number as usize / 512 % 2];
        let input = self.random.between(2, 3_000);
        let output = self.random.between(20, 2_000);
        let read = self.random.between(5_000, 150_000);
        let write = self.random.between(0, 6_000);
        // Millionths of a dollar, tenfold.
        let costs = [input * 30, output * 150, read * 3, write * 37];
        let total = input + output + read + write;
        write!(
            self.line,
            r#","api":"anthropic-messages","provider":"anthropic","model":"{model}","usage":{{"input":{input},"output":{output},"cacheRead":{read},"cacheWrite":{write},"totalTokens":{total},"cost":{{"#
        )?;
        for (name, cost) in ["input", "output", "cacheRead", "cacheWrite"].iter().zip(costs) {
            write!(self.line, r#""{name}":{},"#, Dollars(cost))?;
        }
        let sum = Dollars(costs.iter().sum());
        let now = self.clock;
        write!(self.line, r#""total":{sum}}}}},"stopReason":"{stop}","timestamp":{now}"#)
    }

    /// The beginning of a message, up to its role.
    fn message(&mut self, role: &str) -> io::Result<()> {
        self.envelope("message")?;
        write!(self.line, r#","message":{{"role":"{role}""#)
    }

    /// What every entry begins with; the closing brace is still to come.
    fn envelope(&mut self, kind: &str) -> io::Result<()> {
        self.put(r#"{"type":""#);
        self.put(kind);
        self.put(r#"","id":""#);
        let id = self.ids.of(self.number);
        self.line.extend_from_slice(&id);
        if let Some(leaf) = self.leaf {
            self.put(r#"","parentId":""#);
            let parent = self.ids.of(leaf);
            self.line.extend_from_slice(&parent);
            self.put(r#"","timestamp":""#);
        } else {
            self.put(r#"","parentId":null,"timestamp":""#);
        }
        let time = timestamp(self.clock)?;
        write!(self.line, r#"{time:.3}""#)
    }

    fn prose(&mut self, percent: u64) {
        let length = self.length(percent);
        self.texts.prose(&mut self.random, length, &mut self.line);
    }

    fn output(&mut self, percent: u64) {
        let length = self.length(percent);
        self.texts.output(&mut self.random, length, &mut self.line);
    }

    fn put(&mut self, json: &str) {
        self.line.extend_from_slice(json.as_bytes());
    }
}

/// An amount in tenths of a millionth of a dollar.
struct Dollars(u64);

impl std::fmt::Display for Dollars {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{:07}", self.0 / 10_000_000, self.0 % 10_000_000)
    }
}

fn quoted(plain: &str) -> String {
    let mut json = String::with_capacity(plain.len() + 2);
    json.push('"');
    escape(plain, &mut json);
    json.push('"');
    json
}
