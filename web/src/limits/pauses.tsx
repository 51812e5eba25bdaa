import type { Pause } from '../api/responses.ts';
import { Instant } from '../components/amount.tsx';
import { LimitLink } from '../components/links.tsx';
import { type Column, ListSection, TwoLines } from '../components/table.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { refusedText } from './names.ts';
import { PauseButton } from './pause-button.tsx';
import { Resume } from './resume.tsx';
import { usePauses } from './use-limits.ts';

const Scope = ({ pause }: { readonly pause: Pause }) => refusedText(pause.scope, useKeyNames());

const columns: readonly Column<Pause>[] = [
  { head: 'Pause', cell: (pause) => <TwoLines second={<Scope pause={pause} />}>{pause.name}</TwoLines> },
  { head: 'Until', cell: ({ until }) => (until === null ? 'somebody resumes it' : <Instant iso={until} />) },
  {
    head: 'Made by',
    className: 'wide-only',
    cell: ({ ruleId }) => (ruleId === null ? 'a person' : <LimitLink id={ruleId}>a rule</LimitLink>),
  },
  { head: 'Actions', className: 'right', cell: (pause) => <Resume pause={pause} /> },
];

/** The pauses in force, and a button that pauses something by hand. */
export const Pauses = () => (
  <ListSection
    title="Pauses"
    action={<PauseButton label="Pause something" start={{}} />}
    query={usePauses()}
    none="Nothing is paused. A rule on the rate of spending can pause what runs away."
    columns={columns}
  />
);
