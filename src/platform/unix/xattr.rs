//! Extended attributes that are preserved when a file's content is replaced.

use std::ffi::CString;
use std::os::fd::AsFd;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, flistxattr_query, fsetxattr};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::text::hexadecimal;

/// One extended attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attribute {
    name: CString,
    #[serde(with = "hexadecimal")]
    value: Vec<u8>,
}

/// The maximum size of a list of names or of one value in bytes (`XATTR_SIZE_MAX` of the kernel).
const MAX_XATTR_BYTES: usize = 64 * 1024;

/// The degree to which an attribute must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttributeRetention {
    /// The user's own, and access control lists: an edit that would lose one is refused.
    Kept,
    /// Labels that the system may set by itself and may not let us set: kept if that is allowed.
    Tried,
    /// Attributes that certify the content (file capabilities, integrity): invalid when that
    /// changes, as after any write.
    Void,
}

fn kind(name: &[u8]) -> AttributeRetention {
    let starts = |prefix: &[u8]| name.starts_with(prefix);
    if starts(b"security.capability") || starts(b"security.ima") || starts(b"security.evm") {
        AttributeRetention::Void
    } else if starts(b"user.") || starts(b"system.posix_acl") || starts(b"com.apple.") {
        AttributeRetention::Kept
    } else {
        AttributeRetention::Tried
    }
}

/// All attributes of the open file that can survive a change of its content.
pub(crate) fn read_all(fd: impl AsFd) -> Result<Vec<Attribute>, Errno> {
    match flistxattr_query(&fd) {
        Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        Ok(_) => {}
        Err(errno) => return Err(errno),
    }
    let mut names = vec![0u8; MAX_XATTR_BYTES];
    let length = flistxattr(&fd, &mut names[..])?;
    let mut attributes = Vec::new();
    let mut buffer = vec![0u8; MAX_XATTR_BYTES];
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(name) = CString::new(name) else { continue };
        if kind(name.as_bytes()) == AttributeRetention::Void {
            continue;
        }
        match fgetxattr(&fd, &name, &mut buffer[..]) {
            Ok(length) => attributes.push(Attribute { name, value: buffer[..length].to_vec() }),
            Err(_) if kind(name.as_bytes()) == AttributeRetention::Tried => {}
            Err(Errno::NODATA) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(attributes)
}

/// Sets `attributes` of the open file.
pub(crate) fn write_all(fd: impl AsFd, attributes: &[Attribute]) -> Result<(), Errno> {
    for attribute in attributes {
        match fsetxattr(&fd, &attribute.name, &attribute.value, XattrFlags::empty()) {
            Err(errno) if kind(attribute.name.as_bytes()) == AttributeRetention::Kept => return Err(errno),
            _ => {}
        }
    }
    Ok(())
}
