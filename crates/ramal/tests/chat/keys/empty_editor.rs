//! In the editor, while there is nothing in it.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
