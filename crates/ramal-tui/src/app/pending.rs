use super::*;
impl App {
    pub(super) fn open_sessions(&mut self) {}
    pub(super) fn resume(&mut self, _: &str) {}
    pub(super) fn stash(&mut self) {}
    pub(super) fn delete_session(&mut self) {}
    pub(super) fn keep_draft(&mut self) {}
    pub(super) fn keep_draft_now(&mut self) {}
}
