# Completion of `memory` for fish. The program computes the candidates, from the index of the home.
function __memory_complete
    set -l found (command memory complete fish "$COLUMNS" (commandline -cp | string collect) 2>/dev/null)
    if test "$found[1]" = \tfiles
        __fish_complete_path (commandline -ct)
    else
        string join \n -- $found
    end
end
for program in memory memo memory-cli
    complete -c $program -k -f -a '(__memory_complete)'
end
