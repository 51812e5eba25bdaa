import { Badge, Group } from '@mantine/core';
import { Mail, SlidersHorizontal, Webhook } from 'lucide-react';
import type { Budget, Pause } from '../api/responses.ts';
import { Instant } from '../components/amount.tsx';
import { LimitLink } from '../components/page.tsx';
import { actions, type Column, ListSection, TwoLines } from '../components/table.tsx';
import { formatPercent } from '../format/numbers.ts';
import { ItemList, ItemRow } from '../forms/item-list.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { AccessRules } from './access-rules.tsx';
import { type Channel, channelNames } from './channels.ts';
import { collectionOf, type Limit, limitText, typeOf } from './limit-form.ts';
import { limitTypes } from './limit-types.ts';
import { refusedText } from './names.ts';
import { PauseButton } from './pause-button.tsx';
import { Resume } from './refusing-list.tsx';
import { useLimits, usePauses, useSeesPart } from './use-limits.ts';
import { Used } from './used.tsx';

const Scope = ({ pause }: { readonly pause: Pause }) => refusedText(pause.scope, useKeyNames());

const columns: readonly Column<Pause>[] = [
  { head: 'Pause', cell: (pause) => <TwoLines second={<Scope pause={pause} />}>{pause.name}</TwoLines> },
  { head: 'Until', cell: ({ until }) => (until === null ? 'somebody resumes it' : <Instant iso={until} />) },
  {
    head: 'Made by',
    className: 'wide-only',
    cell: ({ ruleId }) => (ruleId === null ? 'a person' : <LimitLink id={ruleId}>a rule</LimitLink>),
  },
  actions('rules:write', (pause) => <Resume pause={pause} />),
];

const Pauses = () => (
  <ListSection
    title="Pauses"
    action={<PauseButton label="Pause something" start={{}} />}
    query={usePauses()}
    none={
      useSeesPart()
        ? 'Nothing of your projects and keys alone is paused.'
        : 'Nothing is paused. A rule on the rate of spending can pause what runs away.'
    }
    columns={columns}
  />
);

const Effect = ({ budget: { isActive, block, state } }: { readonly budget: Budget }) => {
  if (!isActive) return <span className="dim small">Off</span>;
  if (state.isBlocking) return <Badge color="red">Requests refused</Badge>;
  return (
    <span className="dim small">{block ? `Refuses requests at ${formatPercent(block.atPercent)}` : 'Warns only'}</span>
  );
};

const Channels = ({ of: channels }: { readonly of: readonly Channel[] }) => (
  <Group gap={8} c="dimmed">
    {channels.map((channel) => {
      const Icon = channel === 'email' ? Mail : Webhook;
      const name = channel === 'email' ? 'e-mail' : channelNames[channel];
      return <Icon key={channel} size={16} aria-label={`by ${name}`} role="img" />;
    })}
  </Group>
);

const LimitRow = ({ limit }: { readonly limit: Limit }) => {
  const keyNames = useKeyNames();
  const type = typeOf(limit);
  const budget = 'state' in limit ? limit : undefined;
  return (
    <ItemRow
      collection={collectionOf({ type })}
      item={limit}
      link={{ to: '/limits/$limitId', params: { limitId: limit.id } }}
      about={limitText(limit, keyNames)}
      below={budget && <Used budget={budget} />}
    >
      {budget && <Effect budget={budget} />}
      <Badge color="gray" c="dimmed" radius="sm" fz={12.5} fw={400} className="wide-only">
        {limitTypes[type].name}
      </Badge>
      {!budget && <Channels of={limit.channels} />}
    </ItemRow>
  );
};

export const Limits = () => {
  const seesPart = useSeesPart();
  return (
    <ItemList
      collection="/alert-rules"
      query={useLimits()}
      about={
        seesPart
          ? 'Limits and pauses of your projects and keys. Those of the whole account are not shown, and may refuse your requests, too.'
          : 'Rules and budgets check your spend every minute and notify you. A budget refuses requests when it is used up if you want.'
      }
      empty={{
        icon: SlidersHorizontal,
        text: seesPart
          ? 'No limit is set for your projects and keys alone.'
          : 'Most accounts start with a daily limit: it reports a runaway loop within a minute, not at the end of the month. Without a budget that says so, no request is ever refused.',
        action: 'Set a daily limit',
      }}
      row={(limit) => <LimitRow key={limit.id} limit={limit} />}
    >
      <Pauses />
      <AccessRules />
    </ItemList>
  );
};
