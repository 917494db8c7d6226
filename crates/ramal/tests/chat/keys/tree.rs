//! In the tree selector.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
