/** What all streams of this process together were written and have not read. */
let total = 0;

export function unreadBytes(): number {
  return total;
}

export function countUnread(moreBytes: number): void {
  total += moreBytes;
}
