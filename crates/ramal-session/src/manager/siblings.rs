//! Branches beside each other: what else was said at the same place, and where each of them ends.

use super::EntryRef;
use crate::tree::node::Flags;

impl<'a> EntryRef<'a> {
    /// The branches that begin where this entry stands, itself among them, in the order in which the tree
    /// shows them. What holds nothing but bookkeeping is no branch, and neither is what cannot be gone to.
    /// Empty if the entry itself is none.
    pub fn siblings(self) -> Vec<EntryRef<'a>> {
        let mut numbers = Vec::new();
        if self.is_branch() {
            self.session.tree.ordered_children(self.parent().map(|parent| parent.number), &mut numbers);
        }
        let all = numbers.into_iter().map(|number| self.session.handle(number));
        all.filter(|entry| entry.is_branch()).collect()
    }

    /// Whether there is another branch beside it. Costs less than [`EntryRef::siblings`].
    pub fn has_siblings(self) -> bool {
        let tree = &self.session.tree;
        let beside = tree.children(self.parent().map(|parent| parent.number));
        let mut others = beside.filter(|&number| number != self.number);
        others.any(|number| self.session.handle(number).is_branch()) && self.is_branch()
    }

    /// The nearest entry on the path to this one that has siblings, itself included.
    pub fn nearest_fork(self) -> Option<EntryRef<'a>> {
        std::iter::successors(Some(self), |entry| entry.parent()).find(|entry| entry.has_siblings())
    }

    /// The end of the branch that it begins: of the conversation at and below it that no other follows,
    /// what was appended last; itself if there is none. Linear in the size of the branch.
    pub fn branch_end(self) -> EntryRef<'a> {
        self.session.handle(self.session.tree.branch_end(self.number))
    }

    fn is_branch(self) -> bool {
        let tree = &self.session.tree;
        !tree.node(self.number).flags.has(Flags::NO_ID) && tree.holds_conversation(self.number)
    }
}

#[cfg(test)]
mod tests {
    use crate::SessionManager;

    /// A session of lines `id parent what`, the parent being `.` for the line above and `-` for none.
    fn session(notation: &str) -> SessionManager {
        let mut log = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n");
        let mut above = "";
        for line in notation.split(", ") {
            let words: Vec<&str> = line.split(' ').collect();
            let (id, what) = (words[0], words[2]);
            let parent = match words[1] {
                "-" => "null".to_owned(),
                "." => format!("\"{above}\""),
                id => format!("\"{id}\""),
            };
            let body = match what {
                "user" | "assistant" => {
                    format!(r#""type":"message","message":{{"role":"{what}","content":"{id}"}}"#)
                }
                kind => format!(r#""type":"{kind}""#),
            };
            log += &format!("{{\"id\":\"{id}\",\"parentId\":{parent},{body}}}\n");
            above = id;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::io::Write::write_all(&mut std::fs::File::create(&path).unwrap(), log.as_bytes()).unwrap();
        SessionManager::open(&path, None).unwrap()
    }

    #[track_caller]
    fn check(notation: &str, id: &str, siblings: &str, fork: &str, end: &str) {
        let session = session(notation);
        let entry = session.get_entry(id).unwrap();
        let named = |entry: super::EntryRef<'_>| entry.id().unwrap().to_string();
        let got: Vec<String> = entry.siblings().into_iter().map(named).collect();
        assert_eq!(got.join(" "), siblings, "siblings of {id}");
        assert_eq!(entry.has_siblings(), got.len() > 1, "has_siblings of {id}");
        assert_eq!(entry.nearest_fork().map(named).unwrap_or_default(), fork, "fork above {id}");
        assert_eq!(named(entry.branch_end()), end, "end of {id}");
    }

    #[test]
    fn branches_beside_each_other() {
        let tree = "q - user, a . assistant, b q assistant, u . user, c . assistant, d u assistant, e b user";
        check(tree, "q", "q", "", "e");
        check(tree, "a", "a b", "a", "a");
        check(tree, "b", "a b", "b", "e");
        check(tree, "u", "u e", "u", "d");
        check(tree, "c", "c d", "c", "c");
        check(tree, "e", "u e", "e", "e");
    }

    #[test]
    fn bookkeeping_is_no_branch_unless_there_is_conversation_below_it() {
        let tree = "q - user, a . assistant, l q label, m q model_change, b . assistant, n . custom";
        check(tree, "a", "a m", "a", "a");
        check(tree, "m", "a m", "m", "b");
        check(tree, "n", "", "m", "n");
        check(tree, "l", "", "", "l");
        check(tree, "q", "q", "", "b");
    }

    #[test]
    fn roots_are_siblings() {
        let tree = "q - user, a . assistant, r - user";
        check(tree, "a", "a", "q", "a");
        check(tree, "r", "q r", "r", "r");
    }

    #[test]
    fn what_stands_above_its_parent_is_found() {
        let tree = "q - user, c b assistant, a q assistant, b q assistant";
        check(tree, "q", "q", "", "c");
        check(tree, "b", "a b", "b", "c");
    }
}
