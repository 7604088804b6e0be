/** The element's built-in texts. `{n}` stands for a number. */
export interface Strings {
  title: string;
  open: string;
  close: string;
  placeholder: string;
  send: string;
  stop: string;
  welcome: string;
  you: string;
  assistant: string;
  writing: string;
  newChat: string;
  retry: string;
  latest: string;
  earlier: string;
  running: string;
  done: string;
  failedStep: string;
  question: string;
  allow: string;
  always: string;
  decline: string;
  formWaits: string;
  resumed: string;
  reconnecting: string;
  offline: string;
  notSent: string;
  failed: string;
  cut: string;
  tooLong: string;
  slowDown: string;
  stopped: string;
  expired: string;
  unread: string;
  left: string;
}
