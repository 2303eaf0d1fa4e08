"""Backups: a ledger copied as one consistent set while others write (``backup``), and put in place (``restore``).

``disk`` knows the disk and says what belongs to a backup, ``making`` copies and proves, ``restoring`` proves again,
tells what would be lost and decides, ``replacing`` moves files so that no mixture is ever seen.
"""

from ledger.backups.disk import CopiedFile, Manifest
from ledger.backups.making import Backup, backup
from ledger.backups.restoring import Loss, Restored, restore

__all__ = ["Backup", "CopiedFile", "Loss", "Manifest", "Restored", "backup", "restore"]
