/** The title of a page, as its heading and in the browser's tab and history. */
export const Heading = ({ children }: { readonly children: string }) => (
  <>
    <title>{`${children} · AI Spend Gateway`}</title>
    <h1>{children}</h1>
  </>
);
