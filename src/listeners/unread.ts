/** Bytes written to all streams of this process that their readers have not read. */
let total = 0;

export function unreadBytes(): number {
  return total;
}

export function countUnread(moreBytes: number): void {
  total += moreBytes;
}
