//! In the editor.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
