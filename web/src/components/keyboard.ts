/** Whether the keyboard is choosing: arrow keys go through all choices, and those on the way are no pages to come back to. */
export const isChoosingByKey = (): boolean =>
  document.activeElement?.matches('[type=radio]:focus-visible, select:focus-visible') ?? false;
