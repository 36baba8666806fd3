// Files of the visitor for the Go program of a worker: what the page sends as {files} the program opens by
// name. They are read where they lie, piece by piece, and never sent.
"use strict";
(() => {
  const named = new Map(); // files by path
  const open = []; // files by descriptor, from 3 on
  const reader = new FileReaderSync();
  const fail = (code) => Object.assign(new Error(code), { code });

  addEventListener("message", ({ data: { files } }) => {
    for (const f of files || []) named.set(f.name, f);
  });

  const stat = (f) => ({
    dev: 0, ino: 0, nlink: 1, uid: 0, gid: 0, rdev: 0, blksize: 4096, blocks: Math.ceil(f.size / 512),
    mode: 0o100444, size: f.size, atimeMs: f.lastModified, mtimeMs: f.lastModified, ctimeMs: f.lastModified,
    isDirectory: () => false,
  });
  const folder = { ...stat({ size: 0, lastModified: 0 }), mode: 0o040555, isDirectory: () => true };

  // answer calls back with the result of f, or with its error.
  const answer = (callback, f) => {
    let result;
    try {
      result = f();
    } catch (e) {
      return callback(e.code ? e : fail("EIO")); // such as a file that has changed since it was chosen
    }
    callback(null, result);
  };
  // All files are in one folder, ".", where a model finds those that go with it.
  const find = (path) => {
    const name = path.replace(/^\.\//, "");
    if (!named.has(name)) throw fail("ENOENT");
    return named.get(name);
  };
  const status = (path) => path === "." ? folder : stat(find(path));
  const opened = (fd) => {
    if (!open[fd]) throw fail("EBADF");
    return open[fd];
  };

  Object.assign(globalThis.fs, {
    stat: (path, callback) => answer(callback, () => status(path)),
    lstat: (path, callback) => answer(callback, () => status(path)),
    fstat: (fd, callback) => answer(callback, () => stat(opened(fd).file)),
    open: (path, flags, mode, callback) => answer(callback, () => {
      const file = find(path);
      let fd = 3;
      while (open[fd]) fd++;
      open[fd] = { file, at: 0 };
      return fd;
    }),
    close: (fd, callback) => answer(callback, () => {
      opened(fd);
      delete open[fd];
    }),
    read: (fd, buffer, offset, length, position, callback) => answer(callback, () => {
      const o = opened(fd);
      const begin = position ?? o.at;
      const data = new Uint8Array(reader.readAsArrayBuffer(o.file.slice(begin, begin + length)));
      buffer.set(data, offset);
      if (position === null) o.at += data.length;
      return data.length;
    }),
  });
})();
