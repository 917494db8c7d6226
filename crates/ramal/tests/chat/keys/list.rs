//! In lists: of models, and of messages to go back to.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
