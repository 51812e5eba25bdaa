/** Whether the keyboard is choosing: arrow keys go through all choices, and those on the way are no pages to come back to. */
export const isChoosingByKey = (): boolean =>
  document.activeElement?.matches('[type=radio]:focus-visible, select:focus-visible') ?? false;

/** In a field with a list of choices Enter chooses: it never sends the form, not even where the list has nothing to choose. */
export const keepFormOnEnter = (): void =>
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.target as Element).matches('input[role=combobox]')) event.preventDefault();
  });
