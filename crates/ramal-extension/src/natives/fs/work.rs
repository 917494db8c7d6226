//! What is done to files, once it is clear where they lie and that it may be done.

use std::fs::{self, Metadata};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::error::FsError;
use super::open::{How, hold, hold_itself, open};
use super::{Doing, Placed};
use crate::bytes;

/// With what it is done.
pub(super) struct Means {
    /// Bytes that may be read.
    pub(super) limit: usize,
    pub(super) abort: CancellationToken,
}

/// What comes of it: JSON, or bytes.
pub(super) enum Done {
    Json(Value),
    Bytes(Vec<u8>),
}

impl From<Value> for Done {
    fn from(value: Value) -> Done {
        Done::Json(value)
    }
}

pub(super) fn work(placed: Placed, means: &Means) -> Result<Done, FsError> {
    let path = placed.path.as_path();
    let dest = placed.dest.as_deref().unwrap_or(Path::new(""));
    let flag = |name: &str| placed.options.get(name).and_then(Value::as_bool).unwrap_or(false);
    let mode = placed.options.get("mode").and_then(Value::as_u64).and_then(|mode| u32::try_from(mode).ok());
    let nothing = Done::Json(Value::Null);
    match placed.doing {
        Doing::Read => return read(path, &placed.options, means),
        Doing::Write => {
            let flag = placed.options.get("flag").and_then(Value::as_str).unwrap_or("w");
            let how = How::of_flag(flag, mode)
                .ok_or_else(|| FsError::new("EINVAL", -22, format!("the flag {flag} is not known")))?;
            let mut file = open(path, how)?;
            file.write_all(&placed.bytes)?;
        }
        Doing::Truncate => {
            let length = placed.options.get("length").and_then(Value::as_u64).unwrap_or_default();
            open(path, How { writes: true, reads: false, ..How::READ })?.set_len(length)?;
        }
        // The path leads nowhere else any more.
        Doing::Stat | Doing::Lstat => return Ok(told(&fs::symlink_metadata(hold(path)?)?).into()),
        Doing::Access => {
            access(hold(path)?.as_ref(), placed.options.get("mode").and_then(Value::as_u64).unwrap_or(0))?
        }
        Doing::List => return list(path, flag("recursive"), means),
        Doing::MakeDir => return make_dir(path, flag("recursive"), mode).map(Done::from),
        Doing::Remove => remove(path, flag("recursive"), flag("force"))?,
        Doing::Unlink => {
            let held = hold(path)?;
            match fs::symlink_metadata(&held)?.is_dir() {
                true => return Err(FsError::new("EPERM", -1, "operation not permitted")),
                false => fs::remove_file(&held)?,
            }
        }
        Doing::RemoveDir => fs::remove_dir(hold(path)?)?,
        Doing::Rename => fs::rename(hold(path)?, hold(dest)?)?,
        Doing::Copy => {
            let mut from = open(path, How::READ)?;
            let about = from.metadata()?;
            if !about.is_file() {
                return Err(FsError::new("EISDIR", -21, "only files are copied"));
            }
            if path == dest {
                return Ok(nothing);
            }
            let exclusive = placed.options.get("mode").and_then(Value::as_u64).unwrap_or(0) & 1 == 1;
            let flag = if exclusive { "wx" } else { "w" };
            let how = How::of_flag(flag, Some(permissions(&about))).unwrap_or(How::READ);
            io::copy(&mut from, &mut open(dest, how)?)?;
        }
        Doing::RealPath => {
            fs::symlink_metadata(hold(path)?)?;
            return Ok(json!(path.to_string_lossy()).into());
        }
        Doing::MakeTemp => {
            make_dir(path, false, Some(0o700))?;
        }
        Doing::Chmod => chmod(path, mode.unwrap_or_default())?,
        Doing::Link => {
            let target = placed.options.get("target").and_then(Value::as_str).unwrap_or_default();
            link(Path::new(target), hold(path)?.as_ref())?;
        }
        Doing::ReadLink => return Ok(json!(fs::read_link(hold(path)?)?.to_string_lossy()).into()),
        Doing::Times => {
            let time = |name: &str| {
                let seconds = placed.options.get(name).and_then(Value::as_f64).unwrap_or(0.0).max(0.0);
                std::time::UNIX_EPOCH + std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default()
            };
            let times = fs::FileTimes::new().set_accessed(time("atime")).set_modified(time("mtime"));
            open(path, How::READ)?.set_times(times)?;
        }
    }
    Ok(nothing)
}

/// All of a file, or `length` bytes from `start`.
fn read(path: &Path, options: &Value, means: &Means) -> Result<Done, FsError> {
    let mut file = open(path, How::READ)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(FsError::new("EISDIR", -21, "illegal operation on a directory"));
    }
    let limit = means.limit as u64;
    if let Some(length) = options.get("length").and_then(Value::as_u64) {
        let start = options.get("start").and_then(Value::as_u64).unwrap_or_default();
        if start > 0 {
            file.seek(io::SeekFrom::Start(start))?;
        }
        let mut part = Vec::new();
        file.take(length.min(limit)).read_to_end(&mut part)?;
        return Ok(Done::Bytes(part));
    }
    let refused = |size| FsError::new("ERR_FS_FILE_TOO_LARGE", -27, bytes::too_large(size, means.limit));
    if about.len() > limit {
        return Err(refused(about.len()));
    }
    let mut all = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default());
    // It may grow meanwhile, or be no file at all.
    let mut part = file.take(limit + 1);
    while (&mut part).take(1 << 20).read_to_end(&mut all)? > 0 {
        if means.abort.is_cancelled() {
            return Err(aborted());
        }
    }
    match all.len() > means.limit {
        true => Err(refused(all.len() as u64)),
        false => Ok(Done::Bytes(all)),
    }
}

pub(super) fn aborted() -> FsError {
    FsError::new("ABORT_ERR", -125, "it was aborted")
}

fn kind(about: &fs::FileType) -> &'static str {
    if about.is_dir() {
        "directory"
    } else if about.is_symlink() {
        "link"
    } else if about.is_file() {
        "file"
    } else {
        other_kind(about)
    }
}

#[cfg(unix)]
fn other_kind(about: &fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match (about.is_fifo(), about.is_socket(), about.is_block_device()) {
        (true, ..) => "fifo",
        (_, true, _) => "socket",
        (.., true) => "block",
        _ => "character",
    }
}

#[cfg(not(unix))]
fn other_kind(_: &fs::FileType) -> &'static str {
    "character"
}

/// What is told of a file.
pub(super) fn told(about: &Metadata) -> Value {
    let ms = |time: io::Result<std::time::SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        since.unwrap_or_default().as_secs_f64() * 1000.0
    };
    let mut told = json!({
        "kind": kind(&about.file_type()),
        "size": about.len(),
        "atimeMs": ms(about.accessed()),
        "mtimeMs": ms(about.modified()),
        "birthtimeMs": ms(about.created().or_else(|_| about.modified())),
        "stamp": stamp(about),
    });
    more(about, &mut told);
    told
}

/// Is another after a change.
pub(super) fn stamp(about: &Metadata) -> String {
    let since = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let stamp = format!("{}-{}", since.unwrap_or_default().as_nanos(), about.len());
    #[cfg(unix)]
    let stamp = format!("{stamp}-{}", std::os::unix::fs::MetadataExt::ino(about));
    stamp
}

#[cfg(unix)]
fn more(about: &Metadata, told: &mut Value) {
    use std::os::unix::fs::MetadataExt;
    let changed = about.ctime() as f64 * 1000.0 + about.ctime_nsec() as f64 / 1e6;
    let more = json!({
        "mode": about.mode(), "ino": about.ino(), "dev": about.dev(), "nlink": about.nlink(),
        "uid": about.uid(), "gid": about.gid(), "ctimeMs": changed,
        "blksize": about.blksize(), "blocks": about.blocks(),
    });
    if let (Value::Object(told), Value::Object(more)) = (told, more) {
        told.extend(more);
    }
}

#[cfg(not(unix))]
fn more(about: &Metadata, told: &mut Value) {
    told["mode"] = json!(permissions(about));
    told["ctimeMs"] = told["mtimeMs"].clone();
}

#[cfg(unix)]
fn permissions(about: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn permissions(about: &Metadata) -> u32 {
    if about.permissions().readonly() { 0o444 } else { 0o666 }
}

#[cfg(unix)]
fn access(path: &Path, mode: u64) -> io::Result<()> {
    use rustix::fs::Access;
    let bits = [(4, Access::READ_OK), (2, Access::WRITE_OK), (1, Access::EXEC_OK)];
    let wanted = bits.into_iter().filter(|(bit, _)| mode & bit != 0).map(|(_, access)| access);
    Ok(rustix::fs::access(path, wanted.fold(Access::EXISTS, |all, one| all | one))?)
}

#[cfg(not(unix))]
fn access(path: &Path, mode: u64) -> io::Result<()> {
    match fs::symlink_metadata(path)?.permissions().readonly() && mode & 2 != 0 {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

/// The entries of a folder by their names; with `recursive` those below, too, by their paths from there.
/// Links are not followed.
fn list(path: &Path, recursive: bool, means: &Means) -> Result<Done, FsError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(hold_itself(&path.join(&folder))?)? {
            if means.abort.is_cancelled() {
                return Err(aborted());
            }
            let entry = entry?;
            let name = folder.join(entry.file_name());
            let kind = kind(&entry.file_type()?);
            if recursive && kind == "directory" {
                folders.push(name.clone());
            }
            found.push((name.to_string_lossy().into_owned(), kind));
        }
    }
    found.sort_unstable();
    Ok(json!(found).into())
}

/// Answers the first folder that was made.
fn make_dir(path: &Path, recursive: bool, mode: Option<u32>) -> Result<Value, FsError> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode.unwrap_or(0o777));
    #[cfg(not(unix))]
    let _ = mode;
    if !recursive {
        builder.create(hold(path)?)?;
        return Ok(json!(path.to_string_lossy()));
    }
    let missing = |folder: &&Path| fs::symlink_metadata(folder).is_err();
    let mut missing: Vec<&Path> = path.ancestors().take_while(missing).collect();
    let first = missing.last().map_or(Value::Null, |first| json!(first.to_string_lossy()));
    while let Some(folder) = missing.pop() {
        match builder.create(hold(folder)?) {
            // Somebody else was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
    }
    match fs::symlink_metadata(path)?.is_dir() {
        true => Ok(first),
        false => Err(io::Error::from(io::ErrorKind::AlreadyExists).into()),
    }
}

fn remove(path: &Path, recursive: bool, force: bool) -> Result<(), FsError> {
    let held = hold(path).and_then(|held| fs::symlink_metadata(&held).map(|about| (held, about)));
    let (path, about) = match held {
        Err(error) if force && error.kind() == io::ErrorKind::NotFound => return Ok(()),
        held => held?,
    };
    match (about.is_dir(), recursive) {
        (true, true) => fs::remove_dir_all(path)?,
        (true, false) => {
            let why = "it is a directory, which is removed only with `recursive`";
            return Err(FsError::new("ERR_FS_EISDIR", -21, why));
        }
        _ => fs::remove_file(path)?,
    }
    Ok(())
}

#[cfg(unix)]
fn chmod(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(hold_itself(path)?, std::os::unix::fs::PermissionsExt::from_mode(mode & 0o7777))
}

#[cfg(not(unix))]
fn chmod(path: &Path, mode: u32) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    fs::set_permissions(path, permissions)
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, path)
}
