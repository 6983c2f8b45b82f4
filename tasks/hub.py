"""Files of a data set on the hub, at exactly one commit. The only module that downloads data sets.

The rules:

- A revision is a full commit hash (40 hex), checked before anything else happens. Files are asked for at
  exactly that commit, also from the cache: another commit that happens to be cached is never served in
  its place.
- Only files of rows are fetched (Parquet, Arrow, JSON, JSON Lines). No remote code is ever run, so a data
  set that is only a script fails with a named error.
"""

from __future__ import annotations

import re
from pathlib import Path

from tasks.base import TaskError
from tasks.rows import HubSet

_REVISION = re.compile(r"[0-9a-f]{40}")
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.\w+")


def require_revision(revision: str | None, dataset: str) -> str:
    """Return a revision that is a full commit hash.

    Raises:
        TaskError: It is anything else (a branch, a tag, a short hash, nothing).
    """
    if revision is None or not _REVISION.fullmatch(revision):
        found = "none" if revision is None else repr(revision)
        raise TaskError(
            f"{dataset} on the hub: expected task.revision=<40 hex>, the full hash of a commit, "
            f"found {found} (a branch or tag may change between runs); or set CAPSULE_DATA (or "
            "task.data_dir) to the folder of local files"
        )
    return revision


def hub_files(hub: HubSet, revision: str | None) -> tuple[Path, ...]:
    """Fetch (or find in the cache) the files of a set at exactly this commit, in the order of their names.

    Raises:
        TaskError: The revision is no commit hash, the commit can neither be fetched nor is it
            in the cache, or it has no such files.
    """
    commit = require_revision(revision, hub.repo)
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(hub.repo, repo_type="dataset", revision=commit, allow_patterns=[hub.files])
    except Exception as error:  # the hub's client raises several unrelated families of errors
        raise TaskError(
            f"{hub.repo}: revision {commit} is neither in the local cache nor could it be fetched "
            f"({type(error).__name__}); set CAPSULE_DATA (or task.data_dir) to a folder with local data"
        ) from error
    paths = matching(Path(folder), hub.files)
    if not paths:
        raise TaskError(
            f"{hub.repo}: no files {hub.files} at revision {commit} "
            "(a data set that is only a script is not run)"
        )
    return paths


def matching(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Return the files of a pattern, relative to the folder, in the order of their names.

    Raises:
        TaskError: Their names say that shards are missing.
    """
    paths = tuple(sorted(path for path in folder.glob(pattern) if path.is_file()))
    for index, path in enumerate(paths):
        shard = _SHARD.search(path.name)
        if shard is not None and (int(shard[1]), int(shard[2])) != (index, len(paths)):
            raise TaskError(f"{path.parent}: expected {int(shard[2])} shards {pattern}, found {len(paths)}")
    return paths
