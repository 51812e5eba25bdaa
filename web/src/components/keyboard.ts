/** Whether the keyboard is choosing: arrow keys go through all choices, and those on the way are no pages to come back to. */
export const isChoosingByKey = (): boolean =>
  document.activeElement?.matches('[type=radio]:focus-visible, select:focus-visible') ?? false;

/** Where what had the focus is gone, such as with the page before: back to what had it earlier, or else to the page's content. */
export const focusWhereLost = (earlier: Element | null = null): void => {
  for (const to of [earlier, document.querySelector('#content')])
    if (document.activeElement === document.body && to instanceof HTMLElement) to.focus({ preventScroll: true });
};

/** In a field with a list of choices Enter chooses: it never sends the form, not even where the list has nothing to choose. */
export const keepFormOnEnter = (): void =>
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.target as Element).matches('input[role=combobox]')) event.preventDefault();
  });
