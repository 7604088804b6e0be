import type { PlacedThread } from "../service/views.ts";
import { linkTo } from "../shell/route.ts";
import { noticeOf } from "./inbox-state.ts";

const NAME = "notify";

/** Whether the browser tells of a new conversation while nobody looks at the console, and may. */
export function isNotifyOn(): boolean {
  return localStorage.getItem(NAME) === "on" && "Notification" in globalThis && isAllowed();
}

/** Asks the browser where it must be asked. True: it is on now. */
export async function setNotify(isOn: boolean): Promise<boolean> {
  if (isOn && "Notification" in globalThis) await Notification.requestPermission();
  localStorage.setItem(NAME, isOn ? "on" : "off");
  return isNotifyOn();
}

/** Press it, and the console shows the conversation. */
export function notify(thread: PlacedThread): void {
  const { title, body } = noticeOf(thread);
  // Of one conversation there is one at a time.
  const notice = new Notification(title, { body, tag: thread.id });
  notice.addEventListener("click", () => {
    notice.close();
    window.focus();
    location.hash = linkTo(["channels", thread.channel, "threads", thread.id]);
  });
}

function isAllowed(): boolean {
  return Notification.permission === "granted";
}
