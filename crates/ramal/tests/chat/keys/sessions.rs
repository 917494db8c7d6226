//! In the session selector.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
