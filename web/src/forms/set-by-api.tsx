import { useKeyNames } from '../spend/use-key-names.ts';
import { hiddenIn } from './changes.ts';

/** What only the API can set of an item, read-only: it stays as it is. */
export const SetByApi = ({ item, shown }: { readonly item: object; readonly shown: object }) => {
  const hidden = hiddenIn(item, shown, useKeyNames());
  if (hidden.length === 0) return null;
  return (
    <div>
      <p className="small">Set by the API, and left as it is:</p>
      <ul className="dim small">
        {hidden.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
};
