import type { PlacedThread } from "../service/views.ts";
import { linkTo } from "../shell/route.ts";
import { noticeOf } from "./inbox-state.ts";

const NAME = "notify";

/** Whether notifications of new conversations are on, and the browser allows them. */
export function isNotifyOn(): boolean {
  return localStorage.getItem(NAME) === "on" && "Notification" in globalThis && isAllowed();
}

/** Asks for the browser's permission if needed. True: it is on now. */
export async function setNotify(isOn: boolean): Promise<boolean> {
  if (isOn && "Notification" in globalThis) await Notification.requestPermission();
  localStorage.setItem(NAME, isOn ? "on" : "off");
  return isNotifyOn();
}

/** A click on the notification opens the conversation. */
export function notify(thread: PlacedThread): void {
  const { title, body } = noticeOf(thread);
  // One at a time per conversation.
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
