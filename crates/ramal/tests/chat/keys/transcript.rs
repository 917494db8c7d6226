//! In the whole transcript.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
