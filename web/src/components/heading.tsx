/** What a page is called, on it and in the browser's tabs and history. */
export const Heading = ({ children }: { readonly children: string }) => (
  <>
    <title>{`${children} · AI Spend Gateway`}</title>
    <h1>{children}</h1>
  </>
);
