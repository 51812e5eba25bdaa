import { Button, Modal, NativeSelect, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Pause as PauseIcon } from 'lucide-react';
import { useState } from 'react';
import { useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { AnchorLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { EditorForm } from '../forms/editor.tsx';
import { ScopeFields } from '../scope/scope-fields.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { refusedText } from './names.ts';
import { bodyOf, durations, emptyPause, type PauseValues, pauseProblems, scopeMembers } from './pause-form.ts';
import { Resume } from './resume.tsx';
import { usePauses } from './use-limits.ts';

/** Refuses the requests of a scope for a time. */
const CreatePause = ({ onClose }: { readonly onClose: () => void }) => {
  const form = useForm<PauseValues>({ initialValues: emptyPause, validate: pauseProblems });
  return (
    <EditorForm collection="/pauses" item={undefined} form={form} bodyOf={bodyOf} whole={['minutes']} onClose={onClose}>
      <Text size="sm">
        The gateway refuses its requests with the status 429 and the code PAUSED. Running responses go on to their end.
      </Text>
      <ScopeFields form={form} members={scopeMembers} />
      <TextInput
        label="Reason"
        description="The refused client sees it."
        placeholder="Runaway loop"
        maxLength={100}
        {...form.getInputProps('name')}
      />
      <NativeSelect label="For" data={durations} {...form.getInputProps('minutes')} />
    </EditorForm>
  );
};

/** The pauses in force, and a button that pauses something by hand. */
export const Pauses = () => {
  const { may } = useMe();
  const keyNames = useKeyNames();
  const query = usePauses();
  const { data } = query;
  const [creating, setCreating] = useState(false);
  return (
    <section className="card" aria-labelledby="pauses">
      <div className="card-pad">
        <div className="card-head">
          <h2 id="pauses">Pauses</h2>
          {may('rules:write') && (
            <Button
              size="xs"
              variant="default"
              leftSection={<PauseIcon size={14} aria-hidden />}
              onClick={() => setCreating(true)}
            >
              Pause something
            </Button>
          )}
        </div>
        <LoadProblem query={query} title="The pauses could not be loaded" />
        {data?.items.length === 0 && (
          <p className="dim small">Nothing is paused. A rule on the rate of spending can pause what runs away.</p>
        )}
      </div>
      {data && data.items.length > 0 && (
        <table className="grid-table">
          <thead>
            <tr>
              <th>Pause</th>
              <th>Until</th>
              <th className="wide-only">Made by</th>
              <th className="right">Actions</th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((pause) => (
              <tr key={pause.id}>
                <td>
                  {pause.name}
                  <br />
                  <span className="dim small">{refusedText(pause.scope, keyNames)}</span>
                </td>
                <td>{pause.until === null ? 'somebody resumes it' : <Instant iso={pause.until} />}</td>
                <td className="wide-only">
                  {pause.ruleId === null ? (
                    'a person'
                  ) : (
                    <AnchorLink to="/limits/$limitId" params={{ limitId: pause.ruleId }} inherit>
                      a rule
                    </AnchorLink>
                  )}
                </td>
                <td className="right">
                  <Resume pause={pause} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Modal opened={creating} onClose={() => setCreating(false)} title="Pause requests">
        <CreatePause onClose={() => setCreating(false)} />
      </Modal>
    </section>
  );
};
