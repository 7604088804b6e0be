/** Said before the panel is open. `{n}` stands for a number. */
export interface LauncherStrings {
  title: string;
  open: string;
  close: string;
  unread: string;
  asks: string;
}

/** Of what only the second file shows: images, the list of conversations. In that file, English too. */
export interface LoadedStrings {
  addImages: string;
  removeImage: string;
  image: string;
  closeImage: string;
  dropImages: string;
  imagesNeedText: string;
  notAnImage: string;
  tooManyImages: string;
  imagesTooLarge: string;
  back: string;
  more: string;
  newMessages: string;
  noChats: string;
}

export interface PanelStrings extends LoadedStrings {
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
  left: string;
  refused: string;
  closed: string;
  misconfigured: string;
  unreachable: string;
  over: string;
  queued: string;
  copy: string;
  copied: string;
  cutOff: string;
  imagesRefused: string;
  chats: string;
}

/** Of people who answer; `{name}` stands for theirs. In the second file, English too. */
export interface PersonStrings {
  askPerson: string;
  waiting: string;
  stopWaiting: string;
  personIsHere: string;
  personWrites: string;
  assistantIsBack: string;
}

/** Of the thumbs on replies. In the second file, English too. */
export interface FeedbackStrings {
  rate: string;
  rateUp: string;
  rateDown: string;
  whatWasWrong: string;
  sendFeedback: string;
  skipFeedback: string;
  feedbackThanks: string;
}

/** Before a conversation is deleted. In the second file, English too. */
export interface DeletionStrings {
  deleteChat: string;
  deleteQuestion: string;
  deleteYes: string;
  deleteNo: string;
}

/** The element's built-in texts. */
export interface Strings
  extends
    LauncherStrings,
    PanelStrings,
    Partial<PersonStrings>,
    Partial<FeedbackStrings>,
    Partial<DeletionStrings> {}
