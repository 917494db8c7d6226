//! Beside the editor: what concerns the conversation.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
