//! Sealed copies of files in memory, which no process can write to (memfd_create(2), "File
//! sealing").

use std::fs::File;
use std::io;

/// A sealed copy of the first `limit` bytes of `file`.
///
/// # Errors
/// It cannot be read, or there is no room for it.
#[cfg(linux_kernel)]
pub(crate) fn sealed_copy(mut file: &File, limit: u64) -> io::Result<File> {
    use std::io::{Read, Seek};

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::io::Errno;

    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let copy = match memfd_create("program", flags | MemfdFlags::EXEC) {
        // Before Linux 6.3 every memfd was executable and the flag was unknown.
        Err(Errno::INVAL) => memfd_create("program", flags),
        made => made,
    }?;
    let mut copy = File::from(copy);
    file.rewind()?;
    io::copy(&mut file.take(limit), &mut copy)?;
    fcntl_add_seals(&copy, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(copy)
}

/// Other systems have no sealed files.
#[cfg(not(linux_kernel))]
pub(crate) fn sealed_copy(_: &File, _: u64) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
