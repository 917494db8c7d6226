//! Among the settings.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
